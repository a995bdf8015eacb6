import {
  type Executor,
  type Generated,
  type Json,
  json,
  type Page,
  planEachTime,
  type RawBuilder,
  sentWithNext,
  sql,
  type Table,
  type Tx,
} from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import type { Who } from '../lib/principal.ts';
import type { AlertKind, Severity, SubjectType } from './kinds.ts';

/** A subject of an alert that is about many. */
export interface Member {
  id: string;
  name: string;
  agent_id: string | null;
  /** The latest event that it is there for, in milliseconds since 1970. */
  at: number;
  /** It is there no longer. It is kept, so that the same event does not fire again. */
  over: boolean;
}

export interface AlertRow {
  id: string;
  rule_id: string;
  kind: AlertKind;
  severity: Severity;
  subject_type: SubjectType | null;
  subject_id: string | null;
  subject_name: string | null;
  agent_id: string | null;
  state: 'firing' | 'resolved';
  count: number;
  title: string;
  detail: string;
  fired_at: Date;
  resolved_at: Date | null;
  acknowledged_at: Date | null;
  acknowledged_by: Who | null;
  note: string | null;
}

declare module '../database/database.ts' {
  interface Schema {
    alerts: Table<
      Omit<AlertRow, 'acknowledged_by'>,
      'state' | 'fired_at' | 'resolved_at' | 'acknowledged_at' | 'note'
    > & {
      acknowledged_by: Json<Who | null>;
      for_admins: Generated<boolean>;
      cause_at: Date;
      members: Json<Member[] | null>;
    };
    alert_conditions: { rule_id: string; subject_id: string; since: Generated<Date> };
    alert_pass: { only_row: Generated<boolean>; at: Date | null };
  }
}

const columns = [
  ...([
    'id',
    'rule_id',
    'kind',
    'severity',
    'subject_type',
    'subject_id',
    'subject_name',
    'agent_id',
  ] as const),
  ...(['state', 'count', 'title', 'detail', 'fired_at', 'resolved_at'] as const),
  ...(['acknowledged_at', 'acknowledged_by', 'note'] as const),
] satisfies readonly (keyof AlertRow)[];

export interface AlertFilter extends Page {
  state?: AlertRow['state'] | undefined;
  kind?: AlertKind | undefined;
  rule_id?: string | undefined;
  agent_id?: string | undefined;
  acknowledged?: boolean | undefined;
}

const select = (executor: Executor, isAdmin: boolean) => {
  const all = executor.selectFrom('alerts').select(columns);
  return isAdmin ? all : all.where('for_admins', '=', false);
};

/** Newest first. `isAdmin`: also those for administrators. */
export const listAlerts = async (
  executor: Executor,
  { limit, next, state, kind, rule_id, agent_id, acknowledged }: AlertFilter,
  isAdmin: boolean,
): Promise<AlertRow[]> => {
  // No alert has what is not an id.
  if ([rule_id, agent_id].some((one) => one !== undefined && !isId(one))) return [];
  let found = select(executor, isAdmin);
  if (state !== undefined) found = found.where('state', '=', state);
  if (kind !== undefined) found = found.where('kind', '=', kind);
  if (rule_id !== undefined) found = found.where('rule_id', '=', rule_id);
  if (agent_id !== undefined) found = found.where('agent_id', '=', agent_id);
  if (acknowledged !== undefined)
    found = found.where('acknowledged_at', acknowledged ? 'is not' : 'is', null);
  if (next !== null) found = found.where('id', '<', next);
  return found
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
};

export const findAlert = (executor: Executor, id: string, isAdmin: boolean): Promise<AlertRow | undefined> =>
  select(executor, isAdmin).where('id', '=', id).executeTakeFirst();

/** The alert, locked until the transaction ends. */
export const findLockedAlert = (tx: Tx, id: string): Promise<AlertRow | undefined> =>
  tx.selectFrom('alerts').select(columns).where('id', '=', id).forUpdate().executeTakeFirst();

export const updateAcknowledged = (tx: Tx, id: string, by: Who, note: string | null): Promise<AlertRow> =>
  tx
    .updateTable('alerts')
    .set({ acknowledged_at: sql<Date>`platform_now()`, acknowledged_by: json(by), note })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** An alert that fires, or has ended so lately that an event of it may be seen again. */
export interface KnownAlert
  extends Pick<
    AlertRow,
    'id' | 'kind' | 'rule_id' | 'subject_type' | 'subject_id' | 'subject_name' | 'agent_id' | 'state'
  > {
  /** Milliseconds since 1970. */
  cause: number;
  members: Member[] | null;
}

/** The alerts that fire, and those that were resolved since. */
export const listKnown = async (tx: Tx, since: Date): Promise<KnownAlert[]> => {
  const columnsOfKnown = sql`id, rule_id, kind, subject_type, subject_id, subject_name, agent_id, state, cause_at, members`;
  const { rows } = await sql<Omit<KnownAlert, 'cause'> & { cause_at: Date }>`
    select ${columnsOfKnown} from alerts where state = 'firing'
    union all
    select ${columnsOfKnown} from alerts where resolved_at > ${since}`.execute(tx);
  return rows.map(({ cause_at, ...row }) => ({ ...row, cause: cause_at.getTime() }));
};

export interface NewAlert
  extends Pick<
    AlertRow,
    | 'id'
    | 'rule_id'
    | 'kind'
    | 'severity'
    | 'subject_type'
    | 'subject_id'
    | 'subject_name'
    | 'agent_id'
    | 'count'
    | 'title'
    | 'detail'
  > {
  for_admins: boolean;
  cause_at: Date;
  members: Member[] | null;
}

/** Inserts alerts. One that fires already for its rule and subject is left as it is. Returns the ids of the new ones. */
export const insertAlerts = async (tx: Tx, alerts: readonly NewAlert[]): Promise<string[]> => {
  if (alerts.length === 0) return [];
  const rows = await tx
    .insertInto('alerts')
    .values(alerts.map((alert) => ({ ...alert, members: alert.members && json(alert.members) })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
};

/** Writes a later event of alerts that fire. */
export const updateCauses = async (
  tx: Tx,
  causes: readonly { id: string; cause: number }[],
): Promise<void> => {
  if (causes.length === 0) return;
  await sql`update alerts a set cause_at = c.at
    from unnest(${causes.map(({ id }) => id)}::uuid[], ${causes.map(({ cause }) => new Date(cause))}::timestamptz[])
      as c(id, at) where a.id = c.id`.execute(tx);
};

export const updateMembers = async (
  tx: Tx,
  id: string,
  values: { members: Member[]; count: number; title: string; detail: string },
): Promise<void> => {
  await tx
    .updateTable('alerts')
    .set({ ...values, members: json(values.members) })
    .where('id', '=', id)
    .execute();
};

/** Resolves those of these alerts that fire. Returns their ids. */
export const updateResolved = async (tx: Tx, ids: readonly string[]): Promise<string[]> => {
  if (ids.length === 0) return [];
  const { rows } = await sql<{
    id: string;
  }>`update alerts set state = 'resolved', resolved_at = platform_now()
    where id = any(${ids}::uuid[]) and state = 'firing' returning id`.execute(tx);
  return rows.map(({ id }) => id);
};

/** The ids of the alerts of a rule that fire. */
export const listFiringOf = async (tx: Tx, ruleId: string): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select id from alerts where rule_id = ${ruleId} and state = 'firing'`.execute(tx);
  return rows.map(({ id }) => id);
};

export interface FiringCount {
  kind: AlertKind;
  severity: Severity;
  acknowledged: boolean;
  n: number;
  since: Date;
}

/** How many alerts fire, by kind, severity and whether someone acknowledged them. */
export const countFiring = async (executor: Executor, isAdmin: boolean): Promise<FiringCount[]> => {
  const { rows } = await sql<FiringCount>`
    select kind, severity, acknowledged_at is not null as acknowledged, count(*)::integer as n, min(fired_at) as since
    from alerts where state = 'firing' and (${isAdmin} or not for_admins) group by 1, 2, 3`.execute(executor);
  return rows;
};

/** Deletes at most `limit` alerts that were resolved more than `days` ago (0: none). Returns how many. */
export const deleteOldAlerts = async (tx: Tx, days: number, limit: number): Promise<number> => {
  if (days <= 0) return 0;
  const { numAffectedRows } = await sql`delete from alerts where id in (
    select id from alerts where resolved_at < platform_now() - ${days}::int * interval '1 day'
    order by resolved_at limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};

/** The places of those of these conditions that are true. Which are asked varies, so their statement has no name. */
export const listTrue = async (
  tx: Tx,
  conditions: readonly RawBuilder<boolean>[],
): Promise<ReadonlySet<number>> => {
  const all = conditions.map((condition, n) => sql`case when ${condition} then ${sql.lit(n)} end`);
  const { rows } = await sql<{ places: (number | null)[] }>`${planEachTime} select
    array[${sql.join(all)}]::integer[] as places`.execute(tx);
  return new Set(rows[0]!.places.filter((n) => n !== null));
};

/** The last pass, and the database's time. */
export const findPass = async (executor: Executor): Promise<{ at: Date | null; now: Date }> => {
  const { rows } = await sql<{ at: Date | null; now: Date }>`
    select at, platform_now() as now from alert_pass`.execute(executor);
  return rows[0]!;
};

export const updatePass = async (tx: Tx, at: Date): Promise<void> => {
  await sql`${sentWithNext} update alert_pass set at = ${at}`.execute(tx);
};
