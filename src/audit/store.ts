import {
  type Executor,
  type Json,
  json,
  type Page,
  selectPage,
  sql,
  type Table,
  type Tx,
} from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';

export interface AuditRow {
  id: string;
  at: Date;
  principal_kind: string;
  principal_id: string;
  principal_name: string;
  action: string;
  target_type: string;
  target_id: string | null;
  outcome: 'done' | 'refused';
  details: unknown;
  request_id: string | null;
  position: number | null;
  hash: string | null;
}

declare module '../database/database.ts' {
  interface Schema {
    audits: Table<Omit<AuditRow, 'details'> & { details: Json<unknown> }, 'at' | 'position' | 'hash'>;
  }
}

/**
 * Listed, because a named statement with `*` fails after a migration that adds a column, and because the hash covers
 * these.
 */
const columns = [
  'id',
  'at',
  'principal_kind',
  'principal_id',
  'principal_name',
  'action',
  'target_type',
  'target_id',
  'outcome',
  'details',
  'request_id',
  'position',
  'hash',
] as const;

interface AuditEntry {
  action: string;
  targetType: string;
  targetId: string | null;
  details?: Record<string, unknown>;
  outcome: 'done' | 'refused';
}

const insertEntry = async (tx: Tx, { principal, requestId }: Actor, entry: AuditEntry): Promise<void> => {
  await tx
    .insertInto('audits')
    .values({
      id: newId(),
      principal_kind: principal.kind,
      principal_id: principal.id,
      principal_name: principal.name,
      action: entry.action,
      target_type: entry.targetType,
      target_id: entry.targetId,
      outcome: entry.outcome,
      details: json(entry.details ?? {}),
      request_id: requestId,
    })
    .execute();
};

/**
 * Writes an entry of the audit log, in the transaction of the change. `action` is `resource.verb`, such as
 * `schedule.create`; `targetType` is its resource unless given. `details` describe the change. They never contain a
 * secret, only its `fingerprint` (lib/crypto.ts).
 */
export const audit = (
  tx: Tx,
  actor: Actor,
  action: string,
  targetId: string | null,
  details: Record<string, unknown> = {},
  targetType = action.slice(0, action.indexOf('.')),
): Promise<void> => insertEntry(tx, actor, { action, targetType, targetId, details, outcome: 'done' });

/** Writes that the operation `operationId` at `path` was refused to `actor`. */
export const auditRefusal = (tx: Tx, actor: Actor, operationId: string, path: string): Promise<void> =>
  insertEntry(tx, actor, {
    action: operationId,
    targetType: 'operation',
    targetId: path.slice(0, 500),
    outcome: 'refused',
  });

export interface AuditFilter {
  principal_id?: string;
  action?: string;
  target_type?: string;
  target_id?: string;
  outcome?: 'done' | 'refused';
}

/** Newest first. */
export const listAudits = (
  executor: Executor,
  { limit, next, offset, ...filter }: Page & { offset: number } & AuditFilter,
): Promise<AuditRow[]> => {
  let query = executor.selectFrom('audits').select(columns).offset(offset);
  for (const [column, value] of Object.entries(filter)) {
    if (value !== undefined) query = query.where(column as keyof AuditFilter, '=', value);
  }
  return selectPage(query, { limit, next });
};

/** The last entry of the chain; null if the chain is empty. */
export const findLastChained = async (
  executor: Executor,
): Promise<{ position: number; hash: string } | null> => {
  const row = await executor
    .selectFrom('audits')
    .select(['position', 'hash'])
    .where('position', 'is not', null)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? { position: row.position!, hash: row.hash! } : null;
};

/** The oldest entries that are not in the chain yet. */
export const listUnchained = (tx: Tx, limit: number): Promise<AuditRow[]> =>
  tx.selectFrom('audits').select(columns).where('position', 'is', null).orderBy('id').limit(limit).execute();

/** Puts entries into the chain. */
export const updateChained = async (
  tx: Tx,
  links: { id: string; position: number; hash: string }[],
): Promise<void> => {
  await sql`update audits set position = link.position, hash = link.hash
    from unnest(${links.map((l) => l.id)}::uuid[], ${links.map((l) => l.position)}::bigint[], ${links.map((l) => l.hash)}::text[])
      as link(id, position, hash)
    where audits.id = link.id`.execute(tx);
};

/** The entries of the chain after `position`, in its order. */
export const listChainedAfter = (executor: Executor, position: number, limit: number): Promise<AuditRow[]> =>
  executor
    .selectFrom('audits')
    .select(columns)
    .where('position', '>', position)
    .orderBy('position')
    .limit(limit)
    .execute();
