import { listPolling, useBaseUrl, useGet, usePermission } from '../../api/index.ts';
import type { UsedLlmConfiguration, UsedLlmConfigurationPage } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Box,
  ButtonLink,
  type Column,
  curlOf,
  EmptyState,
  FilterBar,
  FilterText,
  Loaded,
  NothingMatches,
  Page,
  Pager,
  permissionReason,
  Quiet,
  Table,
  Tag,
  TwoLines,
} from '../../ui/index.ts';
import type { llmConfigurationsSearch } from './search.ts';

/** Whether there are credentials; only administrators see it. */
const secretOf = ({ kind, api_key_set, secret_access_key_set }: UsedLlmConfiguration): string => {
  if (api_key_set === undefined) return words.hidden;
  if (kind === 'mock') return words.secretNone;
  return api_key_set || secret_access_key_set ? words.secretSet : words.secretUnset;
};

const columns: readonly Column<UsedLlmConfiguration>[] = [
  {
    key: 'name',
    title: common.name,
    width: '34%',
    cell: ({ name, model }) => <TwoLines below={model}>{name}</TwoLines>,
  },
  { key: 'kind', title: words.kind, phone: 'below', cell: ({ kind }) => words.kinds[kind] },
  {
    key: 'default',
    title: words.default,
    width: '110px',
    cell: ({ is_default }) => is_default && <Tag kind="on-time">{words.default}</Tag>,
  },
  {
    key: 'used',
    title: words.usedBy,
    phone: 'below',
    cell: ({ used_by: { total, by_default } }) => (
      <TwoLines below={by_default > 0 ? words.byDefault(by_default) : undefined}>
        {total > 0 ? words.agents(total) : <Quiet>{words.noAgents}</Quiet>}
      </TwoLines>
    ),
  },
  { key: 'secret', title: words.secret, phone: 'hide', cell: secretOf },
];

const filters = ['q'] as const;

/** All language models that agents can use. */
export const LlmConfigurationsPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof llmConfigurationsSearch>>();
  const { q, next } = search;
  const got = useGet<UsedLlmConfigurationPage>('/app/api/llm-configurations', {
    query: { q, next, limit: 50 },
    every: listPolling(false),
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const mayCreate = permissionReason(usePermission('createLlmConfiguration'));
  const create = (
    <ButtonLink kind="primary" href={to.newLlmConfiguration()} disabledReason={mayCreate}>
      {words.newLlm}
    </ButtonLink>
  );
  const empty = got.data?.data.length === 0 && count(filters) === 0 && next === undefined;
  return (
    <Page title={pages.llmConfigurations} lead={words.lead} actions={!empty && create}>
      {!empty && (
        <FilterBar set={count(filters)} onClear={() => clear(filters)}>
          <FilterText value={q ?? ''} onChange={(q) => set({ q })} />
        </FilterBar>
      )}
      <Loaded got={got} operation="listUsedLlmConfigurations">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={pages.llmConfigurations}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ name }) => name}
                href={({ id }) => to.llmConfiguration(id)}
              />
            ) : count(filters) > 0 ? (
              <NothingMatches what={words.what} filters={count(filters)} onClear={() => clear(filters)} />
            ) : (
              <EmptyState
                sentence={words.empty}
                action={create}
                curl={curlOf(base, 'POST', '/llm-configurations', {
                  kind: 'openai_compatible',
                  name: 'House model',
                  model: 'small',
                  base_url: 'http://127.0.0.1:11434/v1',
                })}
              />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </Page>
  );
};
