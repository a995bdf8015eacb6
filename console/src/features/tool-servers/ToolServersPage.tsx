import { listPolling, useBaseUrl, useGet, usePermission } from '../../api/index.ts';
import type { UsedToolServer, UsedToolServerPage } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { number } from '../../text/index.ts';
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
} from '../../ui/index.ts';
import type { toolServersSearch } from './search.ts';
import { kindOf, waitingOf } from './sentences.tsx';

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
    cell: (row) =>
      waitingOf(row) > 0 ? (
        <>
          {number(row.tool_count)} <Tag kind="late">{words.changes(row.changed_count, row.new_count)}</Tag>
        </>
      ) : (
        number(row.tool_count)
      ),
  },
  {
    key: 'test',
    title: words.lastTest,
    width: '26%',
    phone: 'below',
    cell: ({ enabled, state, last_checked_at, last_error }) => (
      <TwoLines below={last_error}>
        <OutcomeTag kind={kindOf[state]}>{words.states[state]}</OutcomeTag>{' '}
        {!enabled && <Tag kind="skipped">{words.off}</Tag>}{' '}
        {last_checked_at && (
          <Quiet small>
            <Time at={last_checked_at} form="relative" />
          </Quiet>
        )}
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
