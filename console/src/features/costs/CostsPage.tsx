import { addressOf, listPolling, type Output, useOperation } from '../../api/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { cost } from '../../text/en/cost.ts';
import { costs as words } from '../../text/en/costs.ts';
import { pages } from '../../text/en/pages.ts';
import { number, percent } from '../../text/index.ts';
import { useZone } from '../../time/index.ts';
import {
  Bars,
  Box,
  ButtonLink,
  Callout,
  type Column,
  EmptyState,
  FilterBar,
  FilterChoice,
  Link,
  Loaded,
  Page,
  Section,
  Table,
  useDisabledReason,
} from '../../ui/index.ts';
import css from './costs.module.css';
import { type costsSearch, type Grouping, groupings, spans } from './search.ts';

type Costs = Output<'getCosts'>;
type Group = Costs['groups'][number];

const defaultDays = '30';

const nameOf = (grouping: Grouping, { key, names }: Group): string => {
  const id = key[grouping];
  if (id == null) return words.none[grouping];
  if (grouping === 'purpose') return words.purposes[id as keyof typeof words.purposes] ?? id;
  return names[grouping] ?? words.deleted(id);
};

const hrefOf = (grouping: Grouping, { key, names }: Group): string | undefined => {
  const id = key[grouping];
  if (id == null || names[grouping] == null) return undefined;
  if (grouping === 'agent') return to('/agents/$agentId', { agentId: id });
  if (grouping === 'schedule') return to('/schedules/$scheduleId', { scheduleId: id });
  return undefined;
};

const columnsOf = (grouping: Grouping, total: number): Column<Group>[] => [
  {
    key: 'name',
    title: words.groupings[grouping],
    cell: (group) => {
      const href = hrefOf(grouping, group);
      const name = nameOf(grouping, group);
      return href ? <Link href={href}>{name}</Link> : name;
    },
  },
  {
    key: 'cost',
    title: words.cost,
    width: '26%',
    numeric: true,
    cell: ({ cost_nano_usd, unknown_calls }) => cost.amount(cost_nano_usd, unknown_calls),
  },
  {
    key: 'share',
    title: words.share,
    width: '96px',
    numeric: true,
    phone: 'hide',
    cell: ({ cost_nano_usd }) => (total === 0 ? '' : percent(cost_nano_usd / total)),
  },
  {
    key: 'calls',
    title: words.calls,
    width: '104px',
    numeric: true,
    phone: 'hide',
    cell: ({ calls }) => number(calls),
  },
  {
    key: 'tokens',
    title: words.tokens,
    width: '128px',
    numeric: true,
    phone: 'hide',
    cell: ({ tokens }) => number(tokens.total),
  },
];

/** The cost of each day of the span, also of those without a call. */
const perDay = ({ from, to: end, groups, timezone }: Costs): number[] => {
  const byDay = new Map(groups.map(({ key, cost_nano_usd }) => [key.day, cost_nano_usd]));
  const local = new Intl.DateTimeFormat('en-CA', { timeZone: timezone });
  const days = new Set<string>();
  const last = Date.parse(end);
  for (let at = Date.parse(from); at < last; at += 86_400_000) days.add(local.format(at));
  days.add(local.format(last));
  return [...days].map((day) => byDay.get(day) ?? 0);
};

const newestFirst = (a: Group, b: Group): number => ((a.key.day ?? '') < (b.key.day ?? '') ? 1 : -1);

const OverTime = ({ costs }: { costs: Costs }) => {
  const days = perDay(costs);
  return (
    <Box>
      <div className={css.bars}>
        <Bars values={days} label={words.perDay(days.length)} height={72} kind="on-time" fills />
      </div>
      <Table
        label={words.overTime}
        rows={[...costs.groups].sort(newestFirst)}
        columns={columnsOf('day', costs.total.cost_nano_usd)}
        rowKey={({ key }) => key.day ?? ''}
        name={({ key }) => key.day ?? ''}
        nothing={<EmptyState sentence={words.nothing} />}
      />
    </Box>
  );
};

/** What shown costs are grouped by: for a moment others are shown than are asked for. */
const groupingOf = ({ groups: [first] }: Costs): Grouping | undefined =>
  groupings.find((one) => first && one in first.key);

const Groups = ({ costs, grouping }: { costs: Costs; grouping: Grouping }) => (
  <Box>
    <Table
      label={pages.costs}
      rows={costs.groups}
      columns={columnsOf(grouping, costs.total.cost_nano_usd)}
      rowKey={({ key }) => key[grouping] ?? ''}
      name={(group) => nameOf(grouping, group)}
      nothing={<EmptyState sentence={words.nothing} />}
    />
    {costs.truncated && <p>{words.truncated(costs.groups.length)}</p>}
  </Box>
);

export const CostsPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof costsSearch>>();
  const { group_by: grouping = 'agent', days = defaultDays, ...filter } = search;
  const timezone = useZone();
  const mayExport = useDisabledReason('exportCosts');
  const maySeePeople = useDisabledReason('listUsers') === null;
  const from = new Date(Math.floor(Date.now() / 60_000) * 60_000 - Number(days) * 86_400_000).toISOString();
  const shared = { ...filter, from, timezone };
  const options = { every: listPolling(false), keepPrevious: true };
  const byDay = useOperation('getCosts', {}, { query: { ...shared, group_by: ['day'] }, ...options });
  const grouped = useOperation('getCosts', {}, { query: { ...shared, group_by: [grouping] }, ...options });
  const shownGroupings = groupings.filter((one) => one !== 'person' || maySeePeople);
  const filters = ['agent_id', 'model', 'schedule_id', 'trigger_id'] as const;
  return (
    <Page
      title={pages.costs}
      lead={
        grouped.data
          ? cost.amount(grouped.data.total.cost_nano_usd, grouped.data.total.unknown_calls)
          : words.lead
      }
      actions={
        <ButtonLink
          href={addressOf('exportCosts', {}, { ...shared, group_by: [grouping] })}
          disabledReason={mayExport}
        >
          {words.download}
        </ButtonLink>
      }
    >
      <FilterBar set={count(filters)} onClear={() => clear(filters)}>
        <FilterChoice
          label={words.groupBy}
          value={[grouping]}
          options={shownGroupings.map((value) => ({ value, label: words.groupings[value] }))}
          onChange={([value]) => set({ group_by: value as Grouping | undefined })}
        />
        <FilterChoice
          label={words.time}
          value={[days]}
          options={spans.map((value) => ({ value, label: words.days(Number(value)) }))}
          onChange={([value]) => set({ days: value as (typeof spans)[number] | undefined })}
        />
      </FilterBar>
      {grouped.data && grouped.data.total.unknown_calls > 0 && (
        <div className={css.note}>
          <Callout
            tone="look"
            title={<Link href={to('/prices')}>{words.unpriced(grouped.data.total.unknown_calls)}</Link>}
          >
            {words.unpricedText}
          </Callout>
        </div>
      )}
      <Section title={words.overTime}>
        <Loaded got={byDay} operation="getCosts">
          {(costs) => <OverTime costs={costs} />}
        </Loaded>
      </Section>
      <Section title={pages.costs}>
        <Loaded got={grouped} operation="getCosts">
          {(costs) => <Groups costs={costs} grouping={groupingOf(costs) ?? grouping} />}
        </Loaded>
      </Section>
    </Page>
  );
};
