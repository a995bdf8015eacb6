import { sql } from 'kysely';
import { type Executor, json, type Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';

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
    audits: AuditRow;
  }
}

/** Listed: a named statement with `*` fails after a migration that adds a column, and the hash covers these. */
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

export interface AuditEntry {
  /** What was done, `resource.verb`: `schedule.create`. */
  action: string;
  targetType: string;
  targetId?: string | null;
  /** What changed. Never a secret: its `fingerprint` (lib/crypto.ts) instead. */
  details?: Record<string, unknown>;
  outcome?: 'done' | 'refused';
  requestId?: string | null;
}

/** Write an entry in the transaction of the change that it tells of. */
export const audit = async (tx: Tx, principal: Principal, entry: AuditEntry): Promise<void> => {
  const row = {
    id: newId(),
    principal_kind: principal.kind,
    principal_id: principal.id,
    principal_name: principal.name,
    action: entry.action,
    target_type: entry.targetType,
    target_id: entry.targetId ?? null,
    outcome: entry.outcome ?? 'done',
    details: json(entry.details ?? {}),
    request_id: entry.requestId ?? null,
  };
  await tx
    .insertInto('audits')
    .values(row as never)
    .execute();
};

export interface AuditFilter {
  principal_id?: string;
  action?: string;
  target_type?: string;
  target_id?: string;
  outcome?: 'done' | 'refused';
}

/** Newest first, from below the id `before`, one more than `limit`. */
export const listAudits = (
  executor: Executor,
  filter: AuditFilter,
  page: { limit: number; offset: number; before: string | null },
): Promise<AuditRow[]> => {
  let query = executor
    .selectFrom('audits')
    .select(columns)
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .offset(page.offset);
  if (page.before) query = query.where('id', '<', page.before);
  for (const [column, value] of Object.entries(filter)) {
    if (value !== undefined) query = query.where(column as keyof AuditFilter, '=', value as never);
  }
  return query.execute();
};

/** The last entry of the chain; null where it has none yet. */
export const lastChained = async (executor: Executor): Promise<{ position: number; hash: string } | null> => {
  const row = await executor
    .selectFrom('audits')
    .select(['position', 'hash'])
    .where('position', 'is not', null)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? { position: row.position!, hash: row.hash! } : null;
};

export const unchained = (tx: Tx, limit: number): Promise<AuditRow[]> =>
  tx.selectFrom('audits').select(columns).where('position', 'is', null).orderBy('id').limit(limit).execute();

export const setChained = async (
  tx: Tx,
  links: { id: string; position: number; hash: string }[],
): Promise<void> => {
  await sql`update audits set position = link.position, hash = link.hash
    from unnest(${links.map((l) => l.id)}::uuid[], ${links.map((l) => l.position)}::bigint[], ${links.map((l) => l.hash)}::text[])
      as link(id, position, hash)
    where audits.id = link.id`.execute(tx);
};

export const chainedAfter = (executor: Executor, position: number, limit: number): Promise<AuditRow[]> =>
  executor
    .selectFrom('audits')
    .select(columns)
    .where('position', '>', position)
    .orderBy('position')
    .limit(limit)
    .execute();
