import { type Database, sql, type Tx } from '../../database/index.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { type Fired, fireClaimed } from './batch.ts';
import { claimAgain } from './due.ts';
import { isRowFault, skipReason } from './faults.ts';
import type { DueRow } from './plan.ts';

/** Inside `tx`, all of `fn` or nothing of it; `null` where it failed because of a row, with `failed` told. */
const attempt = async <T>(
  tx: Tx,
  fn: () => Promise<T>,
  failed: (error: unknown) => void,
): Promise<T | null> => {
  await sql`savepoint attempt`.execute(tx);
  try {
    const result = await fn();
    // What is checked at COMMIT would be found out too late to blame anyone.
    await sql`set constraints all immediate`.execute(tx);
    await sql`release savepoint attempt`.execute(tx);
    return result;
  } catch (error) {
    if (!isRowFault(error)) throw error;
    // On a connection that is gone this throws, and that is the truth about `error`.
    await sql`rollback to savepoint attempt`.execute(tx);
    failed(error);
    return null;
  }
};

/** Record what one row that cannot fire would have fired as skipped; `null` where even that fails. */
const skipOne = async (tx: Tx, row: DueRow, fault: unknown, log: Logger): Promise<Fired | null> => {
  const schedule_id = row.id;
  log.error({ schedule_id, error: messageOf(fault) }, 'a schedule cannot fire: its occurrence is skipped');
  return attempt(
    tx,
    () => fireClaimed(tx, [row], skipReason(fault)),
    (error) =>
      log.error({ schedule_id, error: messageOf(error) }, 'its occurrence could not be skipped either'),
  );
};

/**
 * How long one transaction halves, in milliseconds. 500 rows that are all bad take 1,500 attempts: 3.6 s on PostgreSQL,
 * 4.6 s on the embedded database, whose one connection nobody else would have meanwhile.
 */
const mostMs = 500;

interface Turn extends Fired {
  /** What the next transaction goes on with. */
  left: string[][];
}

/** One transaction of `fireByHalves`: at least one attempt, and no more after `most` milliseconds. */
const halve = async (tx: Tx, parts: readonly string[][], log: Logger, most: number): Promise<Turn> => {
  const end = performance.now() + most;
  const claimed = new Map((await claimAgain(tx, parts.flat())).map((row) => [row.id, row]));
  const left = parts.map((part) => part.filter((id) => claimed.has(id))).filter((part) => part.length > 0);
  const turn: Turn = { moved: 0, reports: [], left };
  do {
    const ids = left.pop();
    if (!ids) break;
    const rows = ids.map((id) => claimed.get(id)!);
    let fault: unknown;
    let fired = await attempt(
      tx,
      () => fireClaimed(tx, rows),
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
    turn.moved += fired?.moved ?? 0;
    turn.reports.push(...(fired?.reports ?? []));
  } while (performance.now() < end);
  return turn;
};

/**
 * Claim schedules again, of which some cannot fire, and fire them by halves, so that k bad ones of n cost k log n
 * attempts. The rest fires, and the bad ones are recorded as skipped. All stay locked within a transaction, so that no
 * other lane or replica runs into the same ones; where one takes longer than `most` milliseconds, another goes on. A
 * row that can neither fire nor be skipped stays due, and so does what is left when a later transaction fails.
 */
export const fireByHalves = async (
  db: Database,
  ids: readonly string[],
  log: Logger,
  most = mostMs,
): Promise<Fired> => {
  const all: Fired = { moved: 0, reports: [] };
  let parts = [[...ids]];
  while (parts.length > 0) {
    try {
      const turn = await db.tx((tx) => halve(tx, parts, log, most));
      all.moved += turn.moved;
      all.reports.push(...turn.reports);
      parts = turn.left;
    } catch (error) {
      // What was committed has still to be told; the next batch meets the failure itself.
      if (all.moved === 0) throw error;
      log.warn({ error: messageOf(error) }, 'the halving of a batch has stopped short');
      return all;
    }
  }
  return all;
};
