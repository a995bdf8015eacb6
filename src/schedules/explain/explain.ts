import type { Executor } from '../../database/index.ts';
import { notFound } from '../../lib/errors.ts';
import { LocalClock } from '../../lib/times.ts';
import { findScheduling } from '../../replicas/index.ts';
import { readSettings } from '../../settings/index.ts';
import { findFirstVersion, type HistoryRow, listVersionsAround } from '../definition-store.ts';
import { listOccurrences, listRecordedOccurrences, type OccurrenceRow } from '../occurrence-store.ts';
import { occurrencesOfStored } from '../occurrences.ts';
import { type ReconciledOccurrence, reconcile } from '../reconciliation.ts';
import { findNextRun, type ScheduleRow } from '../store.ts';
import { type LedgerEntry, toLedger } from './ledger.ts';
import { clockNote, firesFor, type Moment, readMoment, shownMoment } from './moment.ts';
import { nominalAfter, nominalBefore } from './nominal.ts';
import {
  beforeRecordsText,
  blockedText,
  changedText,
  missingText,
  nearestText,
  notNominalText,
  overdueText,
  pausedText,
  recordedText,
  upcomingText,
  type Verdict,
} from './verdicts.ts';

const minute = 60_000;
const day = 86_400_000;
/** Versions before and after the moment that are looked at. */
const mostVersions = 20;

/** Reason why a schedule ran, or did not, at some moment. Instants are milliseconds since 1970. */
export interface Explained {
  at: number;
  verdict: Verdict;
  text: string;
  /** The occurrence of that minute, if there is one. */
  due: number | null;
  before: number | null;
  after: number | null;
  inForce: HistoryRow | null;
  entry: LedgerEntry | null;
  clock: LocalClock;
}

interface Facts {
  executor: Executor;
  schedule: ScheduleRow;
  moment: Moment;
  clock: LocalClock;
  now: number;
  nextRunAt: Date | null;
  versions: readonly HistoryRow[];
  /** The index of the version that held; -1 if none did. */
  k: number;
  knownFrom: number;
}

type Said = Pick<Explained, 'verdict' | 'text'> & { entry?: LedgerEntry };

/** The first occurrence of `version` in the minute that begins at `at`; null if there is none. */
const dueIn = (version: HistoryRow, at: number): number | null => {
  const next = occurrencesOfStored(version)?.next(at - 1) ?? null;
  return next !== null && next < at + minute ? next : null;
};

const reconciledAt = async (
  { executor, schedule, versions, nextRunAt }: Facts,
  due: number,
): Promise<ReconciledOccurrence | undefined> => {
  const recorded = await listRecordedOccurrences(executor, schedule.id, new Date(due - 1), new Date(due));
  return reconcile({ definitions: versions, recorded, nextRunAt }, due - 1, due)[0];
};

/** Returns the record under the nominal times of the minute, whatever the definition is now. */
const ownRecord = async ({
  executor,
  schedule,
  moment: { at },
}: Facts): Promise<OccurrenceRow | undefined> => {
  const [from, to] = [new Date(at - 1), new Date(at + minute - 1)];
  const rows = (await listRecordedOccurrences(executor, schedule.id, from, to)).filter(
    ({ scheduled_for }) => scheduled_for >= new Date(at),
  );
  return rows.find(({ work_item_id }) => work_item_id !== null) ?? rows[0];
};

const recorded = async (
  { executor, schedule, clock, now }: Facts,
  due: number,
  row: OccurrenceRow,
): Promise<Said> => {
  // The reason for several that were skipped together is shown as that of the one that was asked for.
  const one = { ...row, scheduled_for: new Date(due), timezone: schedule.timezone };
  const entry = (await toLedger(executor, [one], now))[0]!;
  return { verdict: row.outcome as Verdict, text: recordedText(due, entry, clock), entry };
};

const blocked = async ({ executor, schedule, clock }: Facts): Promise<Said> => {
  const query = { limit: 1, from: null, to: null, outcome: 'skipped', before: null } as const;
  const [row] = await listOccurrences(executor, schedule.id, query);
  const by = row && row.reason !== null ? { at: row.at, reason: row.reason } : null;
  return { verdict: 'blocked', text: blockedText(by, clock) };
};

/** Returns the outcome of an occurrence that is not recorded under its own time. */
const nominal = async (facts: Facts, due: number): Promise<Said> => {
  const { executor, schedule, clock, now, nextRunAt } = facts;
  if (due > now) return { verdict: 'upcoming', text: upcomingText(due, now, clock) };
  const found = await reconciledAt(facts, due);
  if (found?.recorded) return recorded(facts, due, found.recorded);
  if (due < facts.knownFrom) return beforeRecords(facts);
  if (found?.status === 'due') {
    return { verdict: 'due', text: overdueText(due, await findScheduling(executor), clock) };
  }
  if (schedule.enabled && nextRunAt === null) return blocked(facts);
  return { verdict: 'missing', text: missingText(due, clock) };
};

const beforeRecords = async ({ executor, schedule, moment, clock, knownFrom }: Facts): Promise<Said> => {
  const first = await findFirstVersion(executor, schedule.id);
  const begins = first?.action === 'create' || first?.from_at.getTime() === schedule.created_at.getTime();
  const created = first && begins && first.from_at.getTime() >= moment.at ? first : null;
  return { verdict: 'before_records', text: beforeRecordsText(moment.at, knownFrom, created, clock) };
};

const paused = ({ versions, k, moment, clock, now }: Facts): Said => {
  let begin = k;
  while (begin > 0 && !versions[begin - 1]!.enabled) begin--;
  const resumed = versions.slice(k + 1).find(({ enabled }) => enabled);
  const wouldBeDue = !moment.skippedBy && dueIn(versions[k]!, moment.at) !== null;
  const due = { wouldBeDue, isComing: moment.at > now };
  return { verdict: 'paused', text: pausedText(versions[begin], resumed, due, clock) };
};

const sameTimes = (one: HistoryRow, other: HistoryRow): boolean =>
  one.cron_expression === other.cron_expression && one.timezone === other.timezone;

/** Returns the text for the nearest other version by which it was due; null if there is none. */
const changed = ({ versions, k, moment, clock }: Facts): Said | null => {
  const inForce = versions[k]!;
  const others = versions
    .map((version, index) => ({ version, index, distance: Math.abs(index - k) }))
    .filter(({ version }) => version.enabled && !sameTimes(version, inForce))
    .sort((a, b) => a.distance - b.distance);
  const matching = others.find(({ version }) => dueIn(version, moment.at) !== null);
  if (!matching || moment.skippedBy) return null;
  const between =
    matching.index > k
      ? versions.slice(k + 1, matching.index + 1)
      : versions.slice(matching.index + 1, k + 1);
  const from = matching.index > k ? inForce : matching.version;
  const change = between.find((version) => !sameTimes(version, from));
  if (!change) return null;
  const rows = { inForce, matching: matching.version, change };
  return { verdict: 'changed', text: changedText(moment.at, rows, clock) };
};

const notNominal = async (facts: Facts, before: number | null, after: number | null): Promise<Said> => {
  const { moment, now, clock, versions, k } = facts;
  const asked = { shown: shownMoment(moment, clock), isComing: moment.at > now };
  const nearest: string[] = [];
  for (const at of [before, after]) {
    if (at === null) continue;
    const status =
      at > now || at < facts.knownFrom ? null : ((await reconciledAt(facts, at))?.status ?? null);
    nearest.push(nearestText(at, status, clock));
  }
  return { verdict: 'not_nominal', text: notNominalText(asked, versions[k]!, nearest, clock) };
};

const ranByHand = async ({
  executor,
  schedule,
  moment: { at },
  now,
  clock,
}: Facts): Promise<string | null> => {
  const span = { from: new Date(at - 1), to: new Date(at + minute - 1) };
  const query = { ...span, limit: 1, outcome: 'manual', before: null } as const;
  const rows = await listOccurrences(executor, schedule.id, query);
  const [entry] = await toLedger(
    executor,
    rows.map((row) => ({ ...row, timezone: schedule.timezone })),
    now,
  );
  if (!entry) return null;
  return `It was run by hand at ${clock.time(entry.at.getTime(), true)}${entry.by ? ` by ${entry.by}` : ''}.`;
};

/** Says why `schedule` ran, or did not, at the moment `asked`: an instant, or a local time of its zone. */
export const explainAt = async (
  executor: Executor,
  schedule: ScheduleRow,
  asked: string,
): Promise<Explained> => {
  const current = await findNextRun(executor, schedule.id);
  if (!current) throw notFound('schedule');
  const now = current.now.getTime();
  const clock = new LocalClock(schedule.timezone, now);
  const moment = readMoment(asked, schedule.timezone);
  const { at } = moment;
  const versions = await listVersionsAround(executor, schedule.id, new Date(at), mostVersions);
  const k = versions.findLastIndex(({ from_at }) => from_at.getTime() < at);
  const { OCCURRENCE_RETENTION_DAYS: days } = await readSettings(executor);
  const retainedFrom = days > 0 ? now - days * day : Number.NEGATIVE_INFINITY;
  const knownFrom = Math.max(retainedFrom, versions[0]?.from_at.getTime() ?? now);
  const facts: Facts = {
    executor,
    schedule,
    moment,
    clock,
    now,
    nextRunAt: current.next_run_at,
    versions,
    k,
    knownFrom,
  };
  const inForce = versions[k];
  const occurrences = inForce?.enabled ? occurrencesOfStored(inForce) : null;
  // A local time that the clock skips has an occurrence only if the schedule fires for it.
  const counts = !moment.skippedBy || firesFor(moment, occurrences);
  const own = counts ? await ownRecord(facts) : undefined;
  const due = own?.scheduled_for.getTime() ?? (counts && inForce?.enabled ? dueIn(inForce, at) : null);
  const before = nominalBefore(versions, due ?? at);
  // Occurrences that are due at the end of the jump that skips a local time come after that time.
  const after = nominalAfter(versions, due ?? (moment.skippedBy ? at - 1 : at));

  const say = async (): Promise<Said> => {
    if (own) return recorded(facts, due!, own);
    if (!inForce || (due === null && at < knownFrom)) return beforeRecords(facts);
    if (due !== null) return nominal(facts, due);
    if (!inForce.enabled) return paused(facts);
    if (!occurrences) return blocked(facts);
    return changed(facts) ?? (await notNominal(facts, before, after));
  };
  const { verdict, text, entry = null } = await say();
  const notes = [clockNote(moment, due, occurrences, clock), await ranByHand(facts)];
  return {
    at,
    verdict,
    text: [text, ...notes.filter((note) => note !== null)].join(' '),
    due,
    before,
    after,
    inForce: inForce ?? null,
    entry,
    clock,
  };
};
