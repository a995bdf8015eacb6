import { type Database, notify, outsideTransaction, type Tx } from '../database/index.ts';
import { ApiError, messageOf } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import { readSettings } from '../settings/index.ts';
import { workItemsChannel } from '../work-items/index.ts';
import { decide } from './decide.ts';
import {
  type Advance,
  claimDue,
  claimOlderRules,
  type DueRow,
  dueIds,
  fireClaimed,
  nextDue,
  setRecomputed,
} from './due.ts';
import { compileSchedule, type Occurrences } from './occurrences.ts';
import { insertOccurrences, type OccurrenceRow } from './store.ts';
import { zoneRulesVersion } from './zones.ts';

/** The channel on which a write says when the schedule it made or changed is next due (milliseconds since 1970). */
export const schedulesChannel = 'schedules';

/** Schedules fired in one transaction: short enough that nobody waits for its locks. */
const batchSize = 1_000;
/**
 * Batches in flight at once, once one was full: while one commits or is decided here, the database works on another.
 * Few, so that the pool always has connections for requests. The embedded database has one connection.
 */
const lanes = { postgres: 3, embedded: 1 };
/** The longest sleep: the database's clock may be set forward while the loop sleeps by this machine's. */
const longestSleepMs = 15_000;
/** How soon a due schedule that another transaction holds is looked at again. */
const lockedRetryMs = 100;
const rulesCheckEveryMs = 60_000;

/** What firing tells of itself, once a transaction has committed. */
export interface FiringReport {
  outcome: OccurrenceRow['outcome'];
  count: number;
  latenessMs: number;
  reason: string | null;
}

export interface FiringDeps {
  db: Database;
  log: Logger;
  /** Called for every row of what happened, after the commit. */
  onFired?: (reports: FiringReport[]) => void;
  /** A span around one batch. */
  span?: <T>(name: string, attributes: Record<string, number>, fn: () => Promise<T>) => Promise<T>;
}

interface Plan {
  moves: Advance[];
  happened: OccurrenceRow[];
}

/** Why a schedule cannot fire at all, or its occurrences. */
const occurrencesOf = (row: DueRow): Occurrences | string => {
  if (!row.has_agent) return 'the agent does not exist';
  try {
    return compileSchedule(row.cron_expression, row.timezone);
  } catch (error) {
    return messageOf(error);
  }
};

const rowOf = (
  row: DueRow,
  scheduledFor: Date,
  outcome: OccurrenceRow['outcome'],
  { count = 1, reason = null }: { count?: number; reason?: string | null } = {},
): OccurrenceRow => {
  const id = newId();
  // What fired is recorded under the id of its Work Item.
  const work_item_id = outcome === 'skipped' ? null : id;
  return {
    id,
    schedule_id: row.id,
    scheduled_for: scheduledFor,
    outcome,
    work_item_id,
    at: row.now,
    count,
    reason,
  };
};

const planRow = (row: DueRow, graceMs: number, plan: Plan): void => {
  const due = row.next_run_at;
  const occurrences = occurrencesOf(row);
  if (typeof occurrences === 'string') {
    // Poison: no next occurrence can be computed, so the schedule rests until it is edited.
    plan.happened.push(rowOf(row, due, 'skipped', { reason: occurrences }));
    plan.moves.push({ id: row.id, from: due, to: null, lastOccurrence: due, fire: null });
    return;
  }
  const rule = { catchUp: row.catch_up, graceMs };
  const { fire, skip, latest, next } = decide(occurrences, due.getTime(), row.now.getTime(), rule);
  if (skip) {
    const { from, count } = skip;
    plan.happened.push(rowOf(row, new Date(from), 'skipped', { count, reason: 'missed' }));
  }
  const fired = fire ? rowOf(row, new Date(fire.at), fire.outcome) : null;
  if (fired) plan.happened.push(fired);
  plan.moves.push({
    id: row.id,
    from: due,
    to: next === null ? null : new Date(next),
    lastOccurrence: new Date(latest),
    fire:
      fire && fired ? { workItemId: fired.id, occurrence: fired.scheduled_for, outcome: fire.outcome } : null,
  });
};

/**
 * The one transaction of firing: claim; then advance, insert the Work Items and record them in one statement. Each
 * guard alone would keep an occurrence from becoming two Work Items: the row lock of the claim, the compare-and-set
 * of the advance, and the unique (schedule_id, occurrence) of the Work Items.
 */
const fire = async (
  tx: Tx,
  limit: number,
  only: string | null,
): Promise<{ claimed: number; happened: OccurrenceRow[] }> => {
  const rows = await claimDue(tx, limit, only);
  if (rows.length === 0) return { claimed: 0, happened: [] };
  const graceMs = (await readSettings(tx)).SCHEDULE_MISFIRE_GRACE_SECONDS * 1000;
  const plan: Plan = { moves: [], happened: [] };
  for (const row of rows) planRow(row, graceMs, plan);
  const { moved, made } = await fireClaimed(tx, plan.moves, rows[0]!.now, zoneRulesVersion);
  if (moved !== rows.length)
    throw new Error(`${rows.length - moved} claimed schedules were moved by someone else`);
  const inserted = made && new Set(made);
  // An occurrence whose Work Item was there already was recorded when that was made.
  const happened = inserted
    ? plan.happened.filter((row) => row.work_item_id === null || inserted.has(row.id))
    : plan.happened;
  await insertOccurrences(
    tx,
    happened.filter(({ outcome }) => outcome === 'skipped'),
  );
  if (happened.some(({ work_item_id }) => work_item_id !== null)) await notify(tx, workItemsChannel);
  return { claimed: rows.length, happened };
};

const reportOf = (h: OccurrenceRow): FiringReport => ({
  outcome: h.outcome,
  count: h.count,
  latenessMs: h.at.getTime() - h.scheduled_for.getTime(),
  reason: h.reason,
});

/** Record that one schedule's due occurrence cannot be turned into a Work Item, and go on to the next. */
const skipPoison = (db: Database, id: string, reason: string): Promise<OccurrenceRow[]> =>
  db.tx(async (tx) => {
    const [row] = await claimDue(tx, 1, id);
    if (!row) return [];
    const occurrences = occurrencesOf(row);
    const next = typeof occurrences === 'string' ? null : occurrences.next(row.now.getTime());
    const latest =
      typeof occurrences === 'string'
        ? row.next_run_at
        : new Date(Math.max(row.next_run_at.getTime(), occurrences.previous(row.now.getTime()) ?? 0));
    const to = next === null ? null : new Date(next);
    const move = { id, from: row.next_run_at, to, lastOccurrence: latest, fire: null };
    await fireClaimed(tx, [move], row.now, zoneRulesVersion);
    const happened = rowOf(row, row.next_run_at, 'skipped', { reason: reason.slice(0, 500) });
    await insertOccurrences(tx, [happened]);
    return [happened];
  });

/** What a schedule can be blamed for: anything but a database that is away, and locks that others hold (40…, 55…). */
const isPoison = (error: unknown): boolean =>
  !(error instanceof ApiError) && !/^(40|55)/.test(String((error as { code?: unknown }).code ?? ''));

/** Shown to users: the code says what it was, and the log, beside it, the rest. */
const reasonOf = (error: unknown): string => {
  const { code } = error as { code?: unknown };
  return `the Work Item could not be made${typeof code === 'string' ? ` (error ${code})` : ''}`;
};

/** The firing loop of one replica. There is no leader: every replica runs one, and they share what is due. */
export class Firing {
  readonly #deps: FiringDeps;
  readonly #loop: Loop;
  /** The database's time minus this machine's, as last seen. */
  #skewMs = 0;
  #rulesCheckedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: FiringDeps) {
    this.#deps = deps;
    this.#loop = new Loop({
      name: 'firing',
      log: deps.log,
      maxRetryMs: 2_000,
      turn: (signal) => this.#turn(signal),
    });
    deps.db.listen(schedulesChannel, (payload) => {
      const due = payload === null || payload === '' ? Number.NaN : Number(payload);
      if (Number.isNaN(due)) this.#loop.wake();
      else this.#loop.wakeWithin(due - (Date.now() + this.#skewMs));
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Look now. For tests that have moved the database's clock. */
  wake(): void {
    this.#loop.wake();
  }

  async #turn(signal: AbortSignal): Promise<number> {
    if (Date.now() - this.#rulesCheckedAt >= rulesCheckEveryMs) {
      await recomputeOlderRules(this.#deps.db);
      this.#rulesCheckedAt = Date.now();
    }
    const claimed = await this.fireDue();
    if (claimed >= batchSize) await this.#fireHerd(signal);
    const { next, now } = await this.#deps.db.read(nextDue);
    this.#skewMs = now.getTime() - Date.now();
    if (next === null) return longestSleepMs;
    const wait = next.getTime() - now.getTime();
    if (wait > 0) return Math.min(wait, longestSleepMs);
    return claimed > 0 ? 0 : lockedRetryMs;
  }

  /** Fire batch after batch in several lanes, until none is full. A lane that fails ends the turn, once all have ended. */
  async #fireHerd(signal: AbortSignal): Promise<void> {
    let failed = false;
    const lane = async (): Promise<void> => {
      try {
        while (!signal.aborted && !failed && (await this.fireDue()) >= batchSize);
      } catch (error) {
        failed = true;
        throw error;
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: lanes[this.#deps.db.kind] }, lane));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
  }

  /** Fire one batch; answers how many schedules were claimed. */
  async fireDue(): Promise<number> {
    const { db, span } = this.#deps;
    const run = () => db.tx((tx) => fire(tx, batchSize, null));
    try {
      const { claimed, happened } = span ? await span('fire schedules', {}, run) : await run();
      this.#report(happened);
      return claimed;
    } catch (error) {
      if (!isPoison(error)) throw error;
      this.#deps.log.warn(
        { error: messageOf(error) },
        'a batch cannot fire: its schedules are fired one by one',
      );
      return this.#fireOneByOne();
    }
  }

  async #fireOneByOne(): Promise<number> {
    const { db, log } = this.#deps;
    const ids = await db.read((reader) => dueIds(reader, batchSize));
    for (const id of ids) {
      try {
        this.#report((await db.tx((tx) => fire(tx, 1, id))).happened);
      } catch (error) {
        if (!isPoison(error)) throw error;
        log.error(
          { schedule_id: id, error: messageOf(error) },
          'a schedule cannot fire: its occurrence is skipped',
        );
        try {
          this.#report(await skipPoison(db, id, reasonOf(error)));
        } catch (failure) {
          // It stays due, and is tried again with the next batch; the others go on.
          if (!isPoison(failure)) throw failure;
          log.error(
            { schedule_id: id, error: messageOf(failure) },
            'its occurrence could not be skipped either',
          );
        }
      }
    }
    return ids.length;
  }

  #report(happened: OccurrenceRow[]): void {
    if (happened.length > 0) outsideTransaction(() => this.#deps.onFired?.(happened.map(reportOf)));
  }
}

/**
 * Schedules whose `next_run_at` older time-zone rules made get a new one, strictly after the later of now and the
 * last occurrence. What newer rules made is left alone, and so is what is due: it fires first.
 */
export const recomputeOlderRules = async (db: Database, zoneRules = zoneRulesVersion): Promise<number> => {
  let total = 0;
  for (;;) {
    const n = await db.tx(async (tx) => {
      const rows = await claimOlderRules(tx, zoneRules, batchSize);
      if (rows.length === 0) return 0;
      const recomputed = rows.map((row) => {
        const after = Math.max(row.now.getTime(), row.last_occurrence?.getTime() ?? 0);
        try {
          const next = compileSchedule(row.cron_expression, row.timezone).next(after);
          return { id: row.id, next: next === null ? null : new Date(next) };
        } catch {
          // A zone that these rules no longer know: it is found out, and recorded, when it is due.
          return { id: row.id, next: row.next_run_at };
        }
      });
      await setRecomputed(tx, recomputed, zoneRules);
      return rows.length;
    });
    total += n;
    if (n < batchSize) return total;
  }
};
