import { useParams } from '@tanstack/react-router';
import { listPolling, useEditForm, useOperation, usePermission } from '../../api/index.ts';
import type { PublicBudget, PublicBudgetPeriod } from '../../api/types.gen.ts';
import { DetailPage, EditForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { budgets as words } from '../../text/en/budgets.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  type Column,
  Columns,
  Facts,
  Loaded,
  Muted,
  notify,
  Pager,
  permissionReason,
  Section,
  Table,
  TextField,
  TwoLines,
} from '../../ui/index.ts';
import { StateTag, scopeOf, shownAmount, Used } from './amounts.tsx';
import { ActionFields, LimitField } from './BudgetFields.tsx';
import type { budgetSearch } from './search.ts';
import { fieldOf, toBody, toValues } from './values.ts';
import { Waiting } from './Waiting.tsx';

const Settings = ({ budget, etag }: { budget: PublicBudget; etag: string | null }) => {
  const edit = useEditForm({
    read: 'getBudget',
    change: 'updateBudget',
    params: { budget_id: budget.id },
    loaded: { body: budget, etag },
    toValues,
    toBody: (values) => toBody(budget.unit, values),
    fieldOf,
    disabledReason: permissionReason(usePermission('updateBudget')),
  });
  const { form } = edit;
  return (
    <EditForm edit={edit} labels={words} onSaved={() => notify(words.saved)}>
      <TextField {...form.field('name')} label={words.name} required />
      <LimitField form={form} unit={budget.unit} />
      <ActionFields form={form} />
    </EditForm>
  );
};

/** The periods in which calls were counted: of each subject, if each has its own. */
const Periods = ({ budget }: { budget: PublicBudget }) => {
  const { search } = useUrlState<ReturnType<typeof budgetSearch>>();
  const got = useOperation(
    'listBudgetPeriods',
    { budget_id: budget.id },
    { query: { next: search.next, limit: 20 }, every: listPolling(true), keepPrevious: true },
  );
  const pager = useCursor(got.data?.next);
  const nameOf = ({ subject }: PublicBudgetPeriod) =>
    subject === null ? words.each.workspace : (subject.name ?? words.deleted_subject);
  const columns: readonly Column<PublicBudgetPeriod>[] = [
    {
      key: 'period',
      title: words.period,
      width: '34%',
      cell: (row) => <TwoLines below={<Time at={row.starts_at} form="date" />}>{nameOf(row)}</TwoLines>,
    },
    {
      key: 'spent',
      title: words.spent,
      width: '40%',
      phone: 'below',
      cell: (row) => <Used budget={budget} period={row} />,
    },
    { key: 'state', title: words.state, cell: ({ state }) => <StateTag budget={budget} state={state} /> },
  ];
  return (
    <>
      <Loaded got={got} operation="listBudgetPeriods">
        {({ data }) => (
          <Box>
            <Table
              label={words.periodsLabel}
              rows={data}
              columns={columns}
              rowKey={({ id }) => id}
              name={nameOf}
              nothing={<Muted>{words.noPeriods}</Muted>}
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};

/** The current period of a budget that has one for all. */
const Current = ({
  budget,
  period,
}: {
  budget: PublicBudget;
  period: NonNullable<PublicBudget['current']>;
}) => (
  <Facts
    facts={[
      [words.state, <StateTag key="state" budget={budget} state={period.state} />],
      [words.spent, <Used key="spent" budget={budget} period={period} />],
      [words.ends, period.ends_at ? <Time key="ends" at={period.ends_at} /> : words.never],
    ]}
  />
);

const leadOf = (budget: PublicBudget): string => {
  const { unit, limit, period, timezone } = budget;
  return [
    scopeOf(budget),
    shownAmount(unit, limit),
    words.periods[period],
    ...(period === 'total' ? [] : [timezone]),
  ].join(' · ');
};

export const BudgetPage = () => {
  const { budgetId } = useParams({ from: '/shell/budgets/$budgetId' });
  const params = { budget_id: budgetId };
  const got = useOperation('getBudget', params, { every: listPolling(true) });
  return (
    <DetailPage
      got={got}
      operation="getBudget"
      kind={pages.budget}
      name={({ name }) => name}
      list={{ label: pages.budgets, href: to('/budgets') }}
      id={budgetId}
      lead={leadOf}
      removal={{
        operation: 'deleteBudget',
        params,
        words,
        text: () => <p>{words.deleteText}</p>,
      }}
    >
      {(budget) => (
        <Columns
          side={
            <Section title={words.settings}>
              <Settings budget={budget} etag={got.etag} />
            </Section>
          }
        >
          <Section title={words.thisPeriod} note={words.thisPeriodNote}>
            {budget.current ? (
              <Current budget={budget} period={budget.current} />
            ) : (
              <Periods budget={budget} />
            )}
          </Section>
          <Waiting budgetId={budget.id} />
          {budget.current && (
            <Section title={words.periodsLabel}>
              <Periods budget={budget} />
            </Section>
          )}
        </Columns>
      )}
    </DetailPage>
  );
};
