import { listPolling, useBaseUrl, useOperation } from '../../../api/index.ts';
import type { ScheduleDetail, ScheduleVersion } from '../../../api/types.gen.ts';
import { WorkItemOutcome } from '../../../resource/WorkItemOutcome.tsx';
import { to } from '../../../routing/to.ts';
import { useCursor, useUrlState } from '../../../routing/url-state.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { duration } from '../../../text/format.ts';
import { Time, useZone, zoneLabel } from '../../../time/index.ts';
import {
  Box,
  ButtonLink,
  type Column,
  curlOf,
  EmptyState,
  Link,
  Loaded,
  Muted,
  NothingMatches,
  OutcomeTag,
  Pager,
  Skeleton,
  shortId,
  Table,
  TwoLines,
  Words,
} from '../../../ui/index.ts';
import { ledgerQuery, type scheduleSearch } from '../search.ts';
import { scheduleHref } from '../shared/address.ts';
import { OccurrenceSentence } from '../shared/OccurrenceSentence.tsx';
import { kindOf } from '../shared/outcomes.ts';
import { paramsOf } from '../shared/use-actions.ts';
import css from './detail.module.css';
import { LedgerFilters, ledgerFilters } from './LedgerFilters.tsx';
import { type LedgerRow, ledgerRows, rowKey } from './ledger-rows.ts';

/** The time at which it was due: in the zone of the schedule, and in that of the viewer where it is another one. */
const Due = ({ at, timezone }: { at: string; timezone: string }) => {
  const own = useZone(timezone);
  return (
    <>
      <Time at={at} form="date" zone={timezone} fixedZone />
      {zoneLabel(own) !== zoneLabel(timezone) && (
        <span className={css.own}>
          <Time at={at} zone={own} fixedZone />
        </span>
      )}
    </>
  );
};

const What = ({ row }: { row: LedgerRow }) => (
  <>
    <OccurrenceSentence occurrence={row} />
    {row.count > 1 && <span className={css.several}>{words.several(row.count)}</span>}
  </>
);

const Item = ({ row: { work_item, work_item_id, running_work_item_id: running } }: { row: LedgerRow }) => {
  if (work_item) return <WorkItemOutcome item={work_item} />;
  if (running) {
    return (
      <TwoLines below={words.stillRunning}>
        <Link href={to('/work-items/$workItemId', { workItemId: running })}>
          <code title={running}>{shortId(running)}</code>
        </Link>
      </TwoLines>
    );
  }
  if (work_item_id === null) return <Muted third>{words.noWorkItem}</Muted>;
  return (
    <TwoLines below={words.workItemGone}>
      <Link href={to('/audit', {}, { target_id: work_item_id })}>
        <code title={work_item_id}>{shortId(work_item_id)}</code>
      </Link>
    </TwoLines>
  );
};

const Late = ({ row: { lateness_ms, status } }: { row: LedgerRow }) => {
  if (lateness_ms === null || status === 'manual' || status === 'skipped') return null;
  const text = duration(Math.max(0, lateness_ms));
  return status === 'on_time' ? <Muted third>{text}</Muted> : text;
};

const columnsFor = (timezone: string): Column<LedgerRow>[] => [
  {
    key: 'due',
    title: words.due(zoneLabel(timezone)),
    width: '136px',
    cell: (row) => <Due at={row.scheduled_for} timezone={timezone} />,
  },
  {
    key: 'outcome',
    title: words.outcome,
    width: '108px',
    cell: (row) => <OutcomeTag kind={kindOf(row)} />,
  },
  {
    key: 'late',
    title: words.lateBy,
    width: '70px',
    numeric: true,
    phone: 'hide',
    cell: (row) => <Late row={row} />,
  },
  { key: 'what', title: words.whatHappened, phone: 'below', cell: (row) => <What row={row} /> },
  { key: 'item', title: words.workItem, width: '166px', phone: 'below', cell: (row) => <Item row={row} /> },
];

const Changes = ({ changes, timezone }: { changes: readonly ScheduleVersion[]; timezone: string }) =>
  changes.length === 0 ? null : (
    <div className={css.changes}>
      {changes.map(({ revision, at, text }) => (
        <span key={revision}>
          <Words
            text={words.change}
            at={<Time at={at} form="date" zone={timezone} fixedZone />}
            what={text}
          />
        </span>
      ))}
    </div>
  );

const NeverDue = ({ schedule }: { schedule: ScheduleDetail }) => {
  const baseUrl = useBaseUrl();
  const { agent_id, id } = schedule;
  return (
    <EmptyState
      sentence={words.neverDue}
      action={
        <ButtonLink href={scheduleHref(agent_id, id, { tab: 'upcoming' })} keepScroll>
          {words.seeUpcoming}
        </ButtonLink>
      }
      curl={curlOf(baseUrl, 'runSchedule', paramsOf(schedule))}
    />
  );
};

/** The occurrences with their outcomes, the latest first, with the changes of the schedule between them. */
export const Ledger = ({ schedule }: { schedule: ScheduleDetail }) => {
  const { search, href, clear, count } = useUrlState<ReturnType<typeof scheduleSearch>>();
  const { timezone } = schedule;
  const { next } = search;
  const filters = count(ledgerFilters);
  const got = useOperation('listOccurrences', paramsOf(schedule), {
    query: ledgerQuery(search),
    every: next === undefined ? listPolling(false) : undefined,
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const isFirst = next === undefined && filters === 0;
  return (
    <>
      <LedgerFilters schedule={schedule} />
      <Loaded got={got} operation="listOccurrences" skeleton={<Skeleton rows={8} height={55} />}>
        {(page) => {
          const { rows, before } = ledgerRows(
            search.outcome === undefined ? page : { ...page, changes: [] },
            isFirst ? schedule.next_run_at : null,
          );
          if (page.data.length === 0) {
            return (
              <Box>
                {filters > 0 ? (
                  <NothingMatches what={words.what} filters={filters} onClear={() => clear(ledgerFilters)} />
                ) : (
                  <NeverDue schedule={schedule} />
                )}
              </Box>
            );
          }
          return (
            <Box>
              <Table
                label={words.ledger}
                columns={columnsFor(timezone)}
                rows={rows}
                rowKey={rowKey}
                name={({ scheduled_for }) => scheduled_for}
                href={({ scheduled_for }) => href({ at: scheduled_for, next })}
                current={({ scheduled_for }) => scheduled_for === search.at}
                noteBefore={({ changes }) =>
                  changes.length > 0 && <Changes changes={changes} timezone={timezone} />
                }
                noteAfter={before.length > 0 && <Changes changes={before} timezone={timezone} />}
              />
            </Box>
          );
        }}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};
