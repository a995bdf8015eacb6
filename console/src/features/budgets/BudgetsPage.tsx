import { useState } from 'react';
import { listPolling, useBaseUrl, useOperation } from '../../api/index.ts';
import type { PublicBudget } from '../../api/types.gen.ts';
import { DeleteDialog } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { budgets as words } from '../../text/en/budgets.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  Button,
  type Column,
  curlOf,
  EmptyState,
  Loaded,
  Muted,
  Page,
  Pager,
  Section,
  Table,
  TwoLines,
  useDisabledReason,
} from '../../ui/index.ts';
import { StateTag, scopeOf, shownAmount, Used } from './amounts.tsx';
import { NewBudgetDialog } from './NewBudgetDialog.tsx';
import type { budgetsSearch } from './search.ts';
import { Waiting } from './Waiting.tsx';

const example = {
  name: 'The month',
  scope: { kind: 'workspace' as const },
  unit: 'nano_usd' as const,
  limit: 20_000_000_000,
  period: 'month' as const,
};

const columns: readonly Column<PublicBudget>[] = [
  {
    key: 'name',
    title: words.name,
    width: '30%',
    cell: (budget) => (
      <TwoLines
        below={`${scopeOf(budget)} · ${words.periods[budget.period]} · ${words.actions[budget.action]}`}
      >
        {budget.name}
      </TwoLines>
    ),
  },
  {
    key: 'spent',
    title: words.spent,
    width: '34%',
    phone: 'below',
    cell: (budget) =>
      budget.current ? (
        <Used budget={budget} period={budget.current} />
      ) : (
        <TwoLines below={words.ofEach}>{shownAmount(budget.unit, budget.limit)}</TwoLines>
      ),
  },
  {
    key: 'state',
    title: words.state,
    cell: (budget) => budget.current && <StateTag budget={budget} state={budget.current.state} />,
  },
  {
    key: 'ends',
    title: words.ends,
    phone: 'hide',
    cell: ({ current }) => {
      if (!current) return null;
      return current.ends_at ? <Time at={current.ends_at} /> : <Muted>{words.never}</Muted>;
    },
  },
];

export const BudgetsPage = () => {
  const { search, set } = useUrlState<ReturnType<typeof budgetsSearch>>();
  const query = { next: search.next };
  const got = useOperation('listBudgets', {}, { query, every: listPolling(true), keepPrevious: true });
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const mayCreate = useDisabledReason('createBudget');
  const mayDelete = useDisabledReason('deleteBudget');
  const [deleting, setDeleting] = useState<PublicBudget | null>(null);
  return (
    <Page
      title={pages.budgets}
      lead={words.lead}
      actions={
        <Button kind="primary" disabledReason={mayCreate} onClick={() => set({ new: '1' })}>
          {pages.newBudget}
        </Button>
      }
    >
      <Section title={words.thisPeriod} note={words.thisPeriodNote}>
        <Loaded got={got} operation="listBudgets">
          {({ data }) => (
            <Box>
              <Table
                label={pages.budgets}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ name }) => name}
                href={({ id }) => to('/budgets/$budgetId', { budgetId: id })}
                actions={(budget) => [
                  {
                    label: words.deleteTitle,
                    danger: true,
                    onSelect: () => setDeleting(budget),
                    disabledReason: mayDelete,
                  },
                ]}
                nothing={
                  <EmptyState
                    sentence={words.empty}
                    curl={curlOf(base, 'createBudget', {}, { body: example })}
                  />
                }
              />
            </Box>
          )}
        </Loaded>
        <Pager {...pager} />
      </Section>
      <Waiting />
      {deleting && (
        <DeleteDialog
          operation="deleteBudget"
          params={{ budget_id: deleting.id }}
          title={words.deleteTitle}
          name={deleting.name}
          deleted={words.deleted}
          onClose={() => setDeleting(null)}
        >
          <p>{words.deleteText}</p>
        </DeleteDialog>
      )}
      {search.new && mayCreate === null && <NewBudgetDialog onClose={() => set({ new: undefined })} />}
    </Page>
  );
};
