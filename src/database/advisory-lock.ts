import { sql } from 'kysely';
import type { Tx } from './database.ts';
import { sentWithNext } from './naming-pool.ts';

/** The work that one replica at a time does. All releases agree on the numbers: never change or reuse one. */
const locks = {
  migrations: 7_301_968_114,
  'work item claims': 7_301_968_115,
  'first key': 7_301_968_116,
  'audit chain': 7_301_968_117,
  /** Every write to people and role mappings. */
  access: 7_301_968_118,
  'data connections': 7_301_968_160,
  'semantic data models': 7_301_968_170,
  /** The names and the number of datasets. */
  datasets: 7_301_968_270,
  /** The names and the number of budgets. */
  budgets: 7_301_968_320,
  /** The names and the number of channels, and the number of routes. */
  channels: 7_301_968_360,
  routes: 7_301_968_361,
  /** The names and the number of event connections. */
  'event connections': 7_301_968_341,
  /** The one configuration, which may not be there to be locked. */
  'document intelligence': 7_301_968_180,
  /** A plan or an application of a document of the workspace. */
  workspace: 7_301_968_190,
  /** Which parts of the stored traces there are. */
  'trace parts': 7_301_968_330,
  /** Reviews that expire, and those that Work Items of another release lack. */
  reviews: 7_301_968_350,
  /** The pass that fires and resolves alerts, and what is done in its time. */
  alerts: 7_301_968_370,
  /** The number of alert rules. */
  'alert rules': 7_301_968_371,
} as const;

/**
 * Waits for the lock `what`, which one replica at a time holds, until its transaction ends. `withNext`: the next statement
 * waits for it, not this call.
 */
export const advisoryLock = async (
  tx: Tx,
  what: keyof typeof locks,
  { withNext = false } = {},
): Promise<void> => {
  await sql`${withNext ? sentWithNext : sql``} select pg_advisory_xact_lock(${sql.lit(locks[what])})`.execute(
    tx,
  );
};

/** Takes the lock `what` until the transaction ends if no other replica holds it. Returns whether it was taken. */
export const tryAdvisoryLock = async (tx: Tx, what: keyof typeof locks): Promise<boolean> => {
  const { rows } = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(${sql.lit(locks[what])}) as taken`.execute(tx);
  return rows[0]!.taken;
};

/** The work on a row that one request at a time does. Numbers of their own, which never change either. */
const rowLocks = {
  'decisions on a Work Item': 1,
  /** The names and the number of the files and frames of a conversation or Work Item. */
  'files of an owner': 2,
  /** The number of the keys that share the limits of a person or service account. */
  'API keys of a principal': 21,
  /** Whether a refusal of a person in Slack on a review was audited within the hour. */
  'refused clicks': 36,
} as const;

/** Waits for the lock `what` of the row `id` until its transaction ends. Unlike a lock of the row it keeps no one else off. */
export const advisoryRowLock = async (tx: Tx, what: keyof typeof rowLocks, id: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${sql.lit(rowLocks[what])}, hashtext(${id}))`.execute(tx);
};
