import { type Executor, type Json, json, sql, type Tx } from '../database/index.ts';
import type { Who } from '../lib/principal.ts';
import type { ShownSettings } from './settings.ts';
import type { Fields, TriggerRow } from './store.ts';

export const definitionActions = ['create', 'update', 'pause', 'resume', 'rotate_secret'] as const;
export type DefinitionAction = (typeof definitionActions)[number];

/** What a trigger was from one moment until that of the next row, and how it came to be so. */
export interface VersionRow {
  trigger_id: string;
  revision: number;
  from_at: Date;
  enabled: boolean;
  definition: Fields & { settings: ShownSettings };
  action: DefinitionAction;
  principal: Who;
  /** In the words of who did it. */
  reason: string | null;
  /** The fields that an update changed. */
  changed: string[] | null;
}

declare module '../database/database.ts' {
  interface Schema {
    trigger_definitions: Omit<VersionRow, 'definition' | 'principal'> & {
      definition: Json<VersionRow['definition']>;
      principal: Json<Who>;
    };
  }
}

const columns = [
  'trigger_id',
  'revision',
  'from_at',
  'enabled',
  'definition',
  'action',
  'principal',
  'reason',
  'changed',
] as const;

/** Records what the trigger is from now on, in the transaction that made it so. */
export const recordVersion = async (
  tx: Tx,
  row: TriggerRow,
  settings: ShownSettings,
  by: Pick<VersionRow, 'action' | 'principal'> & Partial<Pick<VersionRow, 'reason' | 'changed'>>,
): Promise<void> => {
  const { name, filter, mapping, dedup, rate_limit } = row;
  const { kind, id, name: who } = by.principal;
  await sql`insert into trigger_definitions (trigger_id, revision, from_at, enabled, definition, action, principal, reason,
      changed)
    values (${row.id}, ${row.revision}, platform_now(), ${row.enabled},
      ${json({ name, settings, filter, mapping, dedup, rate_limit })}::jsonb, ${by.action},
      ${json({ kind, id, name: who })}::jsonb, ${by.reason ?? null}, ${by.changed ?? null}::text[])`.execute(
    tx,
  );
};

/** The versions, newest first; `before` is a revision. */
export const listVersions = (
  executor: Executor,
  triggerId: string,
  { limit, before }: { limit: number; before: number | null },
): Promise<VersionRow[]> => {
  let query = executor.selectFrom('trigger_definitions').select(columns).where('trigger_id', '=', triggerId);
  if (before !== null) query = query.where('revision', '<', before);
  return query.orderBy('revision', 'desc').limit(limit).execute();
};

/** The versions that began in [from, to), newest first. Null: there is no such bound. */
export const listVersionsBetween = (
  executor: Executor,
  triggerId: string,
  { from, to, limit }: { from: Date | null; to: Date | null; limit: number },
): Promise<VersionRow[]> => {
  let query = executor.selectFrom('trigger_definitions').select(columns).where('trigger_id', '=', triggerId);
  if (from !== null) query = query.where('from_at', '>=', from);
  if (to !== null) query = query.where('from_at', '<', to);
  return query.orderBy('revision', 'desc').limit(limit).execute();
};

/** The version that held at a time; undefined before the first that is kept. */
export const findVersionAt = (
  executor: Executor,
  triggerId: string,
  at: Date,
): Promise<VersionRow | undefined> =>
  executor
    .selectFrom('trigger_definitions')
    .select(columns)
    .where('trigger_id', '=', triggerId)
    .where('from_at', '<=', at)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Deletes at most `limit` versions that a later one replaced more than `days` ago (0: none), but no pause that still holds. */
export const deleteReplacedVersions = async (tx: Tx, days: number, limit: number): Promise<number> => {
  if (days <= 0) return 0;
  const { numAffectedRows } = await sql`delete from trigger_definitions where (trigger_id, revision) in (
    select d.trigger_id, d.revision from trigger_definitions later join trigger_definitions d
      on d.trigger_id = later.trigger_id and d.revision < later.revision
    where later.revision > 1 and later.from_at < platform_now() - ${days}::int * interval '1 day'
      and (d.action <> 'pause' or exists (select from trigger_definitions resumed
        where resumed.trigger_id = d.trigger_id and resumed.revision > d.revision and resumed.enabled))
    limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};
