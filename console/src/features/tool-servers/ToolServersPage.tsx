import { listPolling, useBaseUrl, useGet, usePermission } from '../../api/index.ts';
import type { UsedToolServer, UsedToolServerPage } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Time } from '../../time/index.ts';
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
  OutcomeTag,
  Page,
  Pager,
  permissionReason,
  Quiet,
  Table,
  Tag,
  TwoLines,
  Words,
} from '../../ui/index.ts';
import type { toolServersSearch } from './search.ts';
import { kindOf, waitingOf } from './sentences.tsx';

const LastTest = ({ at, error }: { at: string; error: string | null }) =>
  error === null ? (
    <Time at={at} form="relative" />
  ) : (
    <Words text={words.failedAt} at={<Time at={at} form="relative" />} error={error} />
  );

const columns: readonly Column<UsedToolServer>[] = [
  {
    key: 'name',
    title: common.name,
    width: '30%',
    cell: ({ name, url, command }) => <TwoLines below={url ?? command}>{name}</TwoLines>,
  },
  {
    key: 'transport',
    title: words.transport,
    phone: 'hide',
    cell: ({ transport }) => words.transports[transport],
  },
  {
    key: 'tools',
    title: words.tools,
    phone: 'below',
    cell: (row) => (
      <>
        {words.countOf(row.tool_count)}{' '}
        {waitingOf(row) > 0 && <Tag kind="late">{words.changes(row.changed_count, row.new_count)}</Tag>}
      </>
    ),
  },
  {
    key: 'test',
    title: words.lastTest,
    width: '26%',
    phone: 'below',
    cell: (row) => (
      <TwoLines below={row.last_checked_at && <LastTest at={row.last_checked_at} error={row.last_error} />}>
        <OutcomeTag kind={row.enabled ? kindOf[row.state] : 'skipped'}>
          {row.enabled ? words.states[row.state] : words.off}
        </OutcomeTag>
      </TwoLines>
    ),
  },
  {
    key: 'used',
    title: words.usedBy,
    phone: 'hide',
    cell: ({ used_by: { total } }) => (total > 0 ? words.agents(total) : <Quiet>{words.noAgents}</Quiet>),
  },
];

const filters = ['q'] as const;

/** All tool servers: how they are, and which of their tools wait for a person. */
export const ToolServersPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof toolServersSearch>>();
  const { q, next } = search;
  const got = useGet<UsedToolServerPage>('/app/api/tool-servers', {
    query: { q, next, limit: 50 },
    every: listPolling(false),
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const mayCreate = permissionReason(usePermission('createToolServer'));
  const create = (
    <ButtonLink kind="primary" href={to.newToolServer()} disabledReason={mayCreate}>
      {words.newServer}
    </ButtonLink>
  );
  const empty = got.data?.data.length === 0 && count(filters) === 0 && next === undefined;
  return (
    <Page title={pages.toolServers} lead={words.lead} actions={!empty && create}>
      {!empty && (
        <FilterBar set={count(filters)} onClear={() => clear(filters)}>
          <FilterText value={q ?? ''} onChange={(q) => set({ q })} />
        </FilterBar>
      )}
      <Loaded got={got} operation="listUsedToolServers">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={pages.toolServers}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ name }) => name}
                href={({ id }) => to.toolServer(id)}
              />
            ) : count(filters) > 0 ? (
              <NothingMatches what={words.what} filters={count(filters)} onClear={() => clear(filters)} />
            ) : (
              <EmptyState
                sentence={words.empty}
                action={create}
                curl={curlOf(base, 'POST', '/tool-servers', {
                  name: 'Ledger',
                  url: 'https://ledger.example.com/mcp',
                  headers: { 'x-key': 'secret' },
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
