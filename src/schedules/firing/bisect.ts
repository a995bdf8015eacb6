import { type Database, sql, type Tx } from '../../database/index.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { readSettings } from '../../settings/index.ts';
import { type Fired, fireClaimed } from './batch.ts';
import { isRowFault, skipReason } from './faults.ts';
import type { DueRow } from './plan.ts';
import { claimAgain } from './store.ts';

/**
 * Runs all of `fn` inside `tx`, or nothing of it: null if it failed because of a row, after `onFault` got the error.
 */
const attempt = async <T>(
  tx: Tx,
  fn: () => Promise<T>,
  onFault: (error: unknown) => void,
): Promise<T | null> => {
  await sql`savepoint attempt`.execute(tx);
  try {
    const result = await fn();
    // A constraint that is checked at COMMIT would fail too late to blame a row.
    await sql`set constraints all immediate`.execute(tx);
    await sql`release savepoint attempt`.execute(tx);
    return result;
  } catch (error) {
    if (!isRowFault(error)) throw error;
    // On a connection that is lost this throws, and that is the truth about `error`.
    await sql`rollback to savepoint attempt`.execute(tx);
    onFault(error);
    return null;
  }
};

/** Records what one row that cannot fire would have fired as skipped. Returns null if even that fails. */
const skipOne = async (tx: Tx, row: DueRow, fault: unknown, log: Logger): Promise<Fired | null> => {
  const schedule_id = row.id;
  log.error({ schedule_id, error: messageOf(fault) }, 'a schedule cannot fire: its occurrence is skipped');
  return attempt(
    tx,
    async () => fireClaimed(tx, await readSettings(tx), [row], skipReason(fault)),
    (error) =>
      log.error({ schedule_id, error: messageOf(error) }, 'its occurrence could not be skipped either'),
  );
};

/**
 * Time that one transaction bisects, in milliseconds. 500 rows that are all bad take 1,500 attempts: 3.6 s on
 * PostgreSQL, and 4.6 s on the embedded database, whose one connection no one else would have in the meantime.
 */
const passMs = 500;

interface BisectionPass extends Fired {
  /** The parts of the batch that the next transaction continues with. */
  left: string[][];
}

/** One transaction of `fireByBisection`: at least one attempt, and no more after `limitMs` milliseconds. */
const bisectionPass = async (
  tx: Tx,
  parts: readonly string[][],
  log: Logger,
  limitMs: number,
): Promise<BisectionPass> => {
  const end = performance.now() + limitMs;
  const claimed = new Map((await claimAgain(tx, parts.flat())).map((row) => [row.id, row]));
  const left = parts.map((part) => part.filter((id) => claimed.has(id))).filter((part) => part.length > 0);
  const pass: BisectionPass = { moved: 0, reports: [], left };
  do {
    const ids = left.pop();
    if (!ids) break;
    const rows = ids.map((id) => claimed.get(id)!);
    let fault: unknown;
    let fired = await attempt(
      tx,
      async () => fireClaimed(tx, await readSettings(tx), rows),
      (error) => {
        fault = error;
      },
    );
    if (!fired && ids.length > 1) {
      const half = ids.length >>> 1;
      left.push(ids.slice(half), ids.slice(0, half));
      continue;
    }
    fired ??= await skipOne(tx, rows[0]!, fault, log);
    pass.moved += fired?.moved ?? 0;
    pass.reports.push(...(fired?.reports ?? []));
  } while (performance.now() < end);
  return pass;
};

/**
 * Claims schedules again, some of which cannot fire, and bisects them, so that k bad ones of n cost k log n attempts.
 * The others fire, and the bad ones are recorded as skipped. All stay locked within a transaction, so that no other
 * worker slot or replica meets the same ones; if a transaction takes longer than `limitMs`, another one continues. A
 * row that can neither fire nor be skipped stays due, and so does what is left when a later transaction fails.
 */
export const fireByBisection = async (
  db: Database,
  ids: readonly string[],
  log: Logger,
  limitMs = passMs,
): Promise<Fired> => {
  const all: Fired = { moved: 0, reports: [] };
  let parts = [[...ids]];
  while (parts.length > 0) {
    try {
      const pass = await db.tx((tx) => bisectionPass(tx, parts, log, limitMs));
      all.moved += pass.moved;
      all.reports.push(...pass.reports);
      parts = pass.left;
    } catch (error) {
      // Schedules that were committed must still be reported; the next batch meets the failure itself.
      if (all.moved === 0) throw error;
      log.warn({ error: messageOf(error) }, 'the bisection of a batch has stopped early');
      return all;
    }
  }
  return all;
};
