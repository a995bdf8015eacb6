import { useNavigate } from '@tanstack/react-router';
import { listPolling, useBaseUrl, useOperation } from '../../api/index.ts';
import type { TraceSummary } from '../../api/types.gen.ts';
import { useAgentOptions } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { traces as words } from '../../text/en/traces.ts';
import { list, number, usd } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  Button,
  type Column,
  curlOf,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterSelect,
  FilterValue,
  Loaded,
  NothingMatches,
  OutcomeTag,
  optionsOf,
  Page,
  Pager,
  SelectionBar,
  Table,
  TwoLines,
  useSelection,
} from '../../ui/index.ts';
import type { tracesSearch } from './search.ts';

const filters = [
  ...(['agent_id', 'status', 'tool', 'error_type', 'model', 'service'] as const),
  ...(['min_duration_ms', 'min_cost_nano_usd', 'work_item_id', 'conversation_id'] as const),
] as const;

const durations = ['1000', '5000', '10000', '30000', '60000', '300000'] as const;
const costs = ['1000000', '10000000', '100000000', '1000000000', '10000000000'] as const;

const nameOf = ({ name }: TraceSummary): string => name || words.unnamed;

const belowOf = ({ agent, service }: TraceSummary): string =>
  [agent?.name ?? agent?.id ?? words.noAgent, service].filter((part) => part !== null).join(' · ');

const columns: readonly Column<TraceSummary>[] = [
  {
    key: 'name',
    title: words.trace,
    width: '32%',
    cell: (trace) => <TwoLines below={belowOf(trace)}>{nameOf(trace)}</TwoLines>,
  },
  {
    key: 'status',
    title: words.status,
    cell: ({ status, errors }) => (
      <TwoLines below={errors.length > 0 ? list(errors.slice(0, 2)) : null}>
        <OutcomeTag kind={status === 'ok' ? 'on-time' : 'missing'}>{words.statuses[status]}</OutcomeTag>
      </TwoLines>
    ),
  },
  {
    key: 'began',
    title: words.began,
    phone: 'below',
    cell: ({ started_at }) => <Time at={started_at} form="both" seconds />,
  },
  {
    key: 'took',
    title: words.took,
    width: '96px',
    numeric: true,
    cell: ({ duration_ms }) => words.micros(duration_ms * 1_000),
  },
  {
    key: 'spans',
    title: words.spans,
    width: '72px',
    numeric: true,
    phone: 'hide',
    cell: ({ span_count }) => number(span_count),
  },
  {
    key: 'tokens',
    title: words.tokens,
    width: '96px',
    numeric: true,
    phone: 'hide',
    cell: ({ tokens }) => (tokens === null ? '' : number(tokens)),
  },
  {
    key: 'cost',
    title: words.cost,
    width: '88px',
    numeric: true,
    phone: 'hide',
    cell: ({ cost_nano_usd }) => (cost_nano_usd === null ? '' : usd(cost_nano_usd)),
  },
];

/** What the traces of a page have of a kind: the values that are likely to be looked for. */
const seen = (
  rows: readonly TraceSummary[],
  of: (row: TraceSummary) => readonly (string | null)[],
): string[] => [...new Set(rows.flatMap(of).filter((value) => value !== null))].sort();

export const TracesPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof tracesSearch>>();
  const { min_duration_ms, min_cost_nano_usd, sort = 'time', ...exact } = search;
  const got = useOperation(
    'listTraces',
    {},
    {
      query: {
        ...exact,
        sort,
        min_duration_ms: min_duration_ms === undefined ? undefined : Number(min_duration_ms),
        min_cost_nano_usd: min_cost_nano_usd === undefined ? undefined : Number(min_cost_nano_usd),
        limit: 50,
      },
      every: search.next === undefined ? listPolling(false) : undefined,
      keepPrevious: true,
    },
  );
  const rows = got.data?.data ?? [];
  const known = new Map(rows.flatMap(({ agent }) => (agent?.name ? [[agent.id, agent.name] as const] : [])));
  const agents = useAgentOptions(search.agent_id ? [search.agent_id] : [], { known });
  const selection = useSelection();
  const navigate = useNavigate();
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const set_ = count(filters);
  const [a, b, ...more] = selection.keys;
  const both = a !== undefined && b !== undefined && more.length === 0;
  return (
    <Page title={pages.traces} lead={words.lead} wide>
      <FilterBar
        set={set_}
        onClear={() => clear(filters)}
        aside={
          <FilterSelect
            label={words.order}
            value={sort}
            options={optionsOf(words.orders)}
            onChange={(value) => set({ sort: value === 'time' ? undefined : value })}
          />
        }
      >
        <FilterChoice
          label={words.agent}
          value={search.agent_id ? [search.agent_id] : []}
          {...agents}
          onChange={([agent_id]) => set({ agent_id })}
        />
        <FilterSelect
          label={words.status}
          value={search.status}
          options={optionsOf(words.statuses)}
          onChange={(status) => set({ status })}
        />
        <FilterValue
          label={words.tool}
          value={search.tool}
          suggestions={seen(rows, ({ tools }) => tools)}
          onChange={(tool) => set({ tool })}
        />
        <FilterValue
          label={words.error}
          value={search.error_type}
          suggestions={seen(rows, ({ errors }) => errors)}
          onChange={(error_type) => set({ error_type })}
        />
        <FilterValue
          label={words.model}
          value={search.model}
          suggestions={seen(rows, ({ models }) => models)}
          onChange={(model) => set({ model })}
        />
        {search.service !== undefined && (
          <FilterValue
            label={words.service}
            value={search.service}
            suggestions={seen(rows, ({ service }) => [service])}
            onChange={(service) => set({ service })}
          />
        )}
        <FilterChoice
          label={words.longest}
          value={min_duration_ms ? [min_duration_ms] : []}
          options={durations.map((value) => ({ value, label: words.atLeast(Number(value)) }))}
          onChange={([value]) => set({ min_duration_ms: value })}
        />
        <FilterChoice
          label={words.dearest}
          value={min_cost_nano_usd ? [min_cost_nano_usd] : []}
          options={costs.map((value) => ({ value, label: words.atLeastUsd(Number(value)) }))}
          onChange={([value]) => set({ min_cost_nano_usd: value })}
        />
        {search.work_item_id !== undefined && (
          <Button small onClick={() => set({ work_item_id: undefined })}>
            {words.ofWorkItem}
          </Button>
        )}
        {search.conversation_id !== undefined && (
          <Button small onClick={() => set({ conversation_id: undefined })}>
            {words.ofConversation}
          </Button>
        )}
      </FilterBar>
      <SelectionBar selection={selection} shown={rows.length} matching={null}>
        <Button
          small
          kind="primary"
          disabledReason={both ? null : words.chooseTwo}
          onClick={() => {
            if (both) void navigate({ href: to('/traces/compare', {}, { a, b }) });
          }}
        >
          {words.compare}
        </Button>
      </SelectionBar>
      <Loaded got={got} operation="listTraces">
        {({ data }) => (
          <Box>
            <Table
              label={pages.traces}
              rows={data}
              columns={columns}
              rowKey={({ trace_id }) => trace_id}
              name={nameOf}
              href={({ trace_id: traceId }) => to('/traces/$traceId', { traceId })}
              selection={selection}
              nothing={
                set_ === 0 ? (
                  <EmptyState sentence={words.empty} curl={curlOf(base, 'listTraces', {})} />
                ) : (
                  <NothingMatches what={words.what} filters={set_} onClear={() => clear(filters)} />
                )
              }
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </Page>
  );
};
