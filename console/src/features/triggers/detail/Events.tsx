import { listPolling, perform, useAction, useOperation } from '../../../api/index.ts';
import type { PublicTrigger, TriggerEvent, TriggerVersion } from '../../../api/types.gen.ts';
import { EventTag } from '../../../resource/EventTag.tsx';
import { WorkItemOutcome } from '../../../resource/WorkItemOutcome.tsx';
import { to } from '../../../routing/to.ts';
import { useCursor, useUrlState } from '../../../routing/url-state.ts';
import { triggerDetail as words } from '../../../text/en/trigger-detail.ts';
import { Time } from '../../../time/index.ts';
import {
  Box,
  Button,
  type Column,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterSelect,
  FilterText,
  Loaded,
  Muted,
  NothingMatches,
  notify,
  Pager,
  Problem,
  SelectionBar,
  Skeleton,
  shortId,
  Table,
  TwoLines,
  useDisabledReason,
  useSelection,
  Words,
} from '../../../ui/index.ts';
import { eventsQuery, type TriggerSearch } from '../search.ts';
import { outcomeOptions } from '../shared/outcomes.tsx';
import { paramsOf } from '../shared/params.ts';
import { changesBetween } from './changes.ts';
import css from './detail.module.css';

const filters = ['outcome', 'from', 'to', 'q'] as const;
const day = 86_400_000;
const ranges = ['1', '7', '30'] as const;

/** The reason, and what is to be said of later deliveries. */
const What = ({ event }: { event: TriggerEvent }) => {
  const { reason, deliveries, differing, by, starts_at } = event;
  return (
    <span className={css.what}>
      {reason}
      {starts_at !== null && <Words text={words.queued} at={<Time at={starts_at} />} />}
      {by !== null && words.redeliveredBy(by)}
      {deliveries > 1 && ` ${words.again(deliveries - 1)}`}
      {differing > 0 && ` ${words.differing(differing)}`}
    </span>
  );
};

const columns: readonly Column<TriggerEvent>[] = [
  { key: 'at', title: words.came, width: '104px', cell: ({ at }) => <Time at={at} form="day" /> },
  {
    key: 'event',
    title: words.event,
    width: '26%',
    phone: 'below',
    cell: ({ event_id, type }) => (
      <TwoLines below={type}>
        <code className={css.id} title={event_id}>
          {event_id}
        </code>
      </TwoLines>
    ),
  },
  {
    key: 'outcome',
    title: words.outcome,
    phone: 'below',
    cell: (event) => (
      <>
        <EventTag outcome={event.outcome} /> <What event={event} />
      </>
    ),
  },
  {
    key: 'item',
    title: words.workItem,
    width: '132px',
    phone: 'below',
    cell: ({ work_item, work_item_id }) =>
      work_item ? (
        <WorkItemOutcome item={work_item} />
      ) : (
        <Muted third>{work_item_id === null ? words.none : shortId(work_item_id)}</Muted>
      ),
  },
];

const Changes = ({ changes }: { changes: readonly TriggerVersion[] }) =>
  changes.length === 0 ? null : (
    <div className={css.changes}>
      {changes.map(({ revision, at, text }) => (
        <span key={revision}>
          <Words text={words.change} at={<Time at={at} form="date" />} what={text} />
        </span>
      ))}
    </div>
  );

const Filters = () => {
  const { search, set, replace, clear, count } = useUrlState<TriggerSearch>();
  const { outcome, from, q } = search;
  const days = from === undefined ? undefined : Math.round((Date.now() - Date.parse(from)) / day);
  const range = ranges.find((each) => Number(each) === days);
  return (
    <FilterBar set={count(filters)} onClear={() => clear(filters)}>
      <FilterText value={q ?? ''} placeholder={words.idBegins} onChange={(q) => replace({ q })} />
      <FilterSelect<NonNullable<typeof outcome>>
        label={words.outcome}
        value={outcome}
        options={outcomeOptions}
        onChange={(outcome) => set({ outcome })}
      />
      <FilterChoice
        label={words.range}
        value={range === undefined ? [] : [words.ranges[range]]}
        options={ranges.map((each) => ({ value: words.ranges[each], label: words.ranges[each] }))}
        onChange={([chosen]) => {
          const days = ranges.find((each) => words.ranges[each] === chosen);
          const begin = days && new Date(Math.floor((Date.now() - Number(days) * day) / 60_000) * 60_000);
          set({ from: begin?.toISOString(), to: undefined });
        }}
      />
    </FilterBar>
  );
};

/** The events with what came of each, the newest first, with the changes of the trigger between them. */
export const Events = ({ trigger }: { trigger: PublicTrigger }) => {
  const { search, href, clear, count } = useUrlState<TriggerSearch>();
  const params = paramsOf(trigger);
  const got = useOperation('listTriggerEvents', params, {
    query: eventsQuery(search),
    every: search.next === undefined ? listPolling(true) : undefined,
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const selection = useSelection();
  const mayRedeliver = useDisabledReason('redeliverTriggerEvents');
  const redeliver = useAction(async (ids: readonly string[]) => {
    const { results } = (await perform('redeliverTriggerEvents', params, { body: { ids: [...ids] } })).body;
    const failed = results.flatMap((one) => ('error' in one ? [one.error.message] : []));
    const made = results.flatMap((one) => ('work_item_id' in one ? [one.work_item_id] : []));
    selection.clear();
    const parts = [
      ...(made.length > 0 ? [words.redeliveredCount(made.length)] : []),
      ...(failed.length > 0 ? [words.notRedelivered(failed.length, failed[0]!)] : []),
    ];
    const [first] = made;
    notify(
      parts.join('. '),
      made.length === 1 && first !== undefined
        ? { label: words.openWorkItem, href: to('/work-items/$workItemId', { workItemId: first }) }
        : undefined,
    );
  });
  const set = count(filters);
  return (
    <>
      <Filters />
      {redeliver.error && <Problem error={redeliver.error} />}
      <Loaded got={got} operation="listTriggerEvents" skeleton={<Skeleton rows={8} height={55} />}>
        {({ data, changes }) => {
          if (data.length === 0) {
            return (
              <Box>
                {set > 0 ? (
                  <NothingMatches what={words.what} filters={set} onClear={() => clear(filters)} />
                ) : (
                  <EmptyState sentence={words.noEventsYet} />
                )}
              </Box>
            );
          }
          const { above, below } = changesBetween(data, set > 0 ? [] : changes);
          return (
            <>
              <SelectionBar selection={selection} shown={data.length} matching={null}>
                <Button
                  busy={redeliver.busy}
                  disabledReason={mayRedeliver}
                  onClick={() => void redeliver.run(selection.keys)}
                >
                  {words.redeliver}
                </Button>
              </SelectionBar>
              <Box>
                <Table
                  label={words.ledger}
                  columns={columns}
                  rows={data}
                  rowKey={({ id }) => id}
                  name={({ event_id }) => event_id}
                  selection={selection}
                  href={({ id }) => href({ why: id, next: search.next })}
                  current={({ id }) => id === search.why}
                  actions={({ id }) => [
                    {
                      label: words.redeliver,
                      onSelect: () => void redeliver.run([id]),
                      disabledReason: mayRedeliver,
                    },
                  ]}
                  noteBefore={({ id }) => {
                    const changed = above.get(id);
                    return changed && <Changes changes={changed} />;
                  }}
                  noteAfter={below.length > 0 && <Changes changes={below} />}
                />
              </Box>
            </>
          );
        }}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};
