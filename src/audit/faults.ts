import { type Database, type Executor, sql, type Table } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';

export interface AuditFault {
  found_at: Date;
  /** The first position that does not match; null if only a checkpoint is wrong or gone. */
  position: number | null;
  fault: string;
}

declare module '../database/database.ts' {
  interface Schema {
    audit_faults: Table<AuditFault & { singleton: boolean }, 'singleton' | 'found_at'>;
  }
}

/**
 * Logs what is wrong and stores it in place of what was found before. The same fault keeps the time when it was first
 * found.
 */
export const recordFault = async (
  { db, log }: { db: Database; log: Logger },
  position: number | null,
  fault: string,
): Promise<void> => {
  log.error({ fault }, 'the audit log does not verify');
  await db.run((executor) =>
    sql`insert into audit_faults (position, fault) values (${position}, ${fault})
      on conflict (singleton) do update
      set found_at = platform_now(), position = excluded.position, fault = excluded.fault
      where (audit_faults.position, audit_faults.fault) is distinct from (excluded.position, excluded.fault)`.execute(
      executor,
    ),
  );
};

/** Deletes the stored fault: the whole log was found right. */
export const deleteFault = async (executor: Executor): Promise<void> => {
  await executor.deleteFrom('audit_faults').execute();
};

/** Deletes the stored fault if its position was found right: from < position ≤ to. `to` null: to the end. */
export const deleteFaultWithin = async (
  executor: Executor,
  from: number,
  to: number | null,
): Promise<void> => {
  const deletion = executor.deleteFrom('audit_faults').where('position', '>', from);
  await (to === null ? deletion : deletion.where('position', '<=', to)).execute();
};

export const findFault = async (executor: Executor): Promise<AuditFault | null> =>
  (await executor.selectFrom('audit_faults').select(['found_at', 'position', 'fault']).executeTakeFirst()) ??
  null;
