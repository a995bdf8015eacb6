import { useState } from 'react';
import { listPolling, useBaseUrl, useGet, usePermission } from '../../api/index.ts';
import type { AgentSummary, AgentSummaryPage } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { agents as words } from '../../text/en/agents.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Box,
  ButtonLink,
  curlOf,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterText,
  Loaded,
  NothingMatches,
  Page,
  Pager,
  permissionReason,
  Table,
} from '../../ui/index.ts';
import { columns } from './columns.tsx';
import { DeleteAgentDialog } from './DeleteAgentDialog.tsx';
import type { agentsSearch } from './search.ts';

const filters = ['q', 'mode'] as const;
const modes = Object.entries(words.modes).map(([value, label]) => ({ value, label }));

/** All agents, with what they have to do. */
export const AgentsPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof agentsSearch>>();
  const { q, mode, next } = search;
  const got = useGet<AgentSummaryPage>('/app/api/agents', {
    query: { q, mode, next, limit: 50 },
    every: listPolling(false),
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const mayCreate = permissionReason(usePermission('createAgent'));
  const mayDelete = permissionReason(usePermission('deleteAgent'));
  const mayRun = permissionReason(usePermission('createWorkItem'));
  const [deleting, setDeleting] = useState<AgentSummary | null>(null);
  const create = (
    <ButtonLink kind="primary" href={to.newAgent()} disabledReason={mayCreate}>
      {words.newAgent}
    </ButtonLink>
  );
  const empty = got.data?.data.length === 0 && count(filters) === 0 && next === undefined;
  return (
    <Page title={pages.agents} lead={words.lead} actions={!empty && create}>
      {!empty && (
        <FilterBar set={count(filters)} onClear={() => clear(filters)}>
          <FilterText value={q ?? ''} onChange={(q) => set({ q })} />
          <FilterChoice
            label={words.mode}
            value={mode ? [mode] : []}
            options={modes}
            onChange={([mode]) => set({ mode })}
          />
        </FilterBar>
      )}
      <Loaded got={got} operation="listAgentSummaries">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={pages.agents}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ name }) => name}
                href={({ id }) => to.agent(id)}
                actions={(agent) => [
                  ...(agent.mode === 'worker'
                    ? [
                        {
                          label: words.runOnce,
                          href: to.newWorkItem({ agent: agent.id }),
                          disabledReason: mayRun,
                        },
                      ]
                    : []),
                  { label: words.duplicate, href: to.newAgent(agent.id), disabledReason: mayCreate },
                  {
                    label: words.remove,
                    danger: true,
                    onSelect: () => setDeleting(agent),
                    disabledReason: mayDelete,
                  },
                ]}
              />
            ) : count(filters) > 0 ? (
              <NothingMatches what={words.what} filters={count(filters)} onClear={() => clear(filters)} />
            ) : (
              <EmptyState
                sentence={words.empty}
                action={create}
                curl={curlOf(base, 'POST', '/agents', {
                  name: 'Night clerk',
                  mode: 'worker',
                  instructions: 'Check the invoices of the day.',
                })}
              />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
      {deleting && <DeleteAgentDialog agent={deleting} onClose={() => setDeleting(null)} />}
    </Page>
  );
};
