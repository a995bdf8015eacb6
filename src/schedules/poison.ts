import { sql, type Tx } from '../database/index.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { type Fired, fireClaimed } from './batch.ts';
import type { DueRow } from './due.ts';

/**
 * What is nobody's fault among the schedules: a connection that was lost (08), a transaction that was ended (25), a
 * deadlock (40), a full disk or server (53), a lock that others hold (55), a statement that was ended (57) and the
 * machine (58). All else can be blamed on a row.
 */
const notPoison = /^(08|25|40|53|55|57|58)/;

/** Whether a batch that failed with `error` may have failed because of one of its rows. */
export const isPoison = (error: unknown): boolean =>
  !notPoison.test(String((error as { code?: unknown } | null)?.code ?? ''));

/** Shown to users: the code says what it was, and the log, beside it, the rest. */
const reasonOf = (error: unknown): string => {
  const { code } = error as { code?: unknown };
  return `the Work Item could not be made${typeof code === 'string' ? ` (error ${code})` : ''}`;
};

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
    if (!isPoison(error)) throw error;
    // On a connection that is gone this throws, and that is the truth about `error`.
    await sql`rollback to savepoint attempt`.execute(tx);
    failed(error);
    return null;
  }
};

/**
 * Fire claimed rows of which some cannot fire: by halves, so that k bad ones of n cost k log n attempts. The rest
 * fires, the bad ones are recorded as skipped, and all stay locked meanwhile, so that no other lane or replica runs
 * into the same ones. A row that can neither fire nor be skipped stays due.
 */
export const fireByHalves = async (tx: Tx, rows: readonly DueRow[], log: Logger): Promise<Fired> => {
  if (rows.length === 0) return { moved: 0, reports: [] };
  let fault: unknown;
  const failed = (error: unknown): void => {
    fault = error;
  };
  const fired = await attempt(tx, () => fireClaimed(tx, rows), failed);
  if (fired) return fired;
  if (rows.length > 1) {
    const half = rows.length >>> 1;
    const first = await fireByHalves(tx, rows.slice(0, half), log);
    const second = await fireByHalves(tx, rows.slice(half), log);
    return { moved: first.moved + second.moved, reports: first.reports.concat(second.reports) };
  }
  const schedule_id = rows[0]!.id;
  log.error({ schedule_id, error: messageOf(fault) }, 'a schedule cannot fire: its occurrence is skipped');
  const reason = reasonOf(fault);
  const recorded = await attempt(tx, () => fireClaimed(tx, rows, reason), failed);
  if (recorded) return recorded;
  log.error({ schedule_id, error: messageOf(fault) }, 'its occurrence could not be skipped either');
  return { moved: 0, reports: [] };
};
