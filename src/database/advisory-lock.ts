import { sql } from 'kysely';
import type { Tx } from './database.ts';

/** What replicas take turns at. The numbers are agreed on by all releases: never change or reuse one. */
const locks = {
  migrations: 7_301_968_114,
  'work item claims': 7_301_968_115,
  'first key': 7_301_968_116,
  'audit chain': 7_301_968_117,
} as const;

/** Wait for the turn at `what` among all replicas; it ends with the transaction. */
export const advisoryLock = async (tx: Tx, what: keyof typeof locks): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${sql.lit(locks[what])})`.execute(tx);
};
