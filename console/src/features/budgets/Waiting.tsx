import { listPolling, useOperation } from '../../api/index.ts';
import type { BudgetWait } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { budgets as words } from '../../text/en/budgets.ts';
import { Time } from '../../time/index.ts';
import { Box, type Column, Loaded, Muted, Section, Table, TwoLines } from '../../ui/index.ts';

const nameOf = ({ kind, name, agent }: BudgetWait): string =>
  name ?? agent.name ?? (kind === 'run' ? words.run : words.item);

const hrefOf = ({ kind, id, agent, conversation_id }: BudgetWait): string =>
  kind === 'run' && conversation_id !== null
    ? to('/agents/$agentId/conversations/$conversationId', {
        agentId: agent.id,
        conversationId: conversation_id,
      })
    : to('/work-items/$workItemId', { workItemId: id });

const columns: readonly Column<BudgetWait>[] = [
  {
    key: 'what',
    title: words.what,
    width: '40%',
    cell: (row) => (
      <TwoLines below={`${row.kind === 'run' ? words.run : words.item} · ${row.agent.name ?? ''}`}>
        {nameOf(row)}
      </TwoLines>
    ),
  },
  { key: 'budget', title: words.budget, phone: 'below', cell: ({ budget }) => budget.name },
  {
    key: 'for',
    title: words.waitsFor,
    phone: 'below',
    cell: ({ waits_for, until }) => (
      <TwoLines below={until && <Time at={until} />}>
        {waits_for === 'period' ? words.forPeriod : words.forAdmin}
      </TwoLines>
    ),
  },
  { key: 'since', title: words.since, cell: ({ since }) => <Time at={since} form="relative" /> },
];

/** What waits for a budget, or for any. */
export const Waiting = ({ budgetId }: { budgetId?: string }) => {
  const query = { budget_id: budgetId };
  const got = useOperation('listBudgetWaits', {}, { query, every: listPolling(true) });
  return (
    <Section title={words.waiting} note={words.waitingNote}>
      <Loaded got={got} operation="listBudgetWaits">
        {({ data }) =>
          data.length === 0 ? (
            <Muted>{words.nothingWaits}</Muted>
          ) : (
            <Box>
              <Table
                label={words.waiting}
                rows={data}
                columns={budgetId ? columns.filter(({ key }) => key !== 'budget') : columns}
                rowKey={({ id }) => id}
                name={nameOf}
                href={hrefOf}
              />
            </Box>
          )
        }
      </Loaded>
    </Section>
  );
};
