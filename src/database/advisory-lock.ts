import { sql } from 'kysely';
import type { Tx } from './database.ts';

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
  /** The one configuration, which may not be there to be locked. */
  'document intelligence': 7_301_968_180,
  /** A plan or an application of a document of the workspace. */
  workspace: 7_301_968_190,
} as const;

/** Waits for the lock `what`, which one replica at a time holds, until its transaction ends. */
export const advisoryLock = async (tx: Tx, what: keyof typeof locks): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${sql.lit(locks[what])})`.execute(tx);
};

/** The work on a row that one request at a time does. Numbers of their own, which never change either. */
const rowLocks = {
  'decisions on a Work Item': 1,
  /** The names and the number of the files and frames of a conversation or Work Item. */
  'files of an owner': 2,
  /** The number of the keys that share the limits of a person or service account. */
  'API keys of a principal': 21,
} as const;

/** Waits for the lock `what` of the row `id` until its transaction ends. Unlike a lock of the row it keeps no one else off. */
export const advisoryRowLock = async (tx: Tx, what: keyof typeof rowLocks, id: string): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${sql.lit(rowLocks[what])}, hashtext(${id}))`.execute(tx);
};
