import { type Executor, type Page, selectPage, sql, type Tx } from '../../database/index.ts';
import { column, type RowOf, resource, stamps, type TableOf } from '../../resource/index.ts';
import { fields } from './fields.ts';

export const alertRules = resource('alert_rules', fields, { id: column<string>(), ...stamps });

declare module '../../database/database.ts' {
  interface Schema {
    alert_rules: TableOf<typeof alertRules>;
  }
}

export type AlertRule = RowOf<typeof alertRules>;

const { columns } = alertRules;

/** Newest first. */
export const listAlertRules = (executor: Executor, page: Page): Promise<AlertRule[]> =>
  selectPage(executor.selectFrom('alert_rules').select(columns), page);

/** All rules, the oldest first. */
export const listAllRules = (executor: Executor): Promise<AlertRule[]> =>
  executor.selectFrom('alert_rules').select(columns).orderBy('created_at').orderBy('id').execute();

export const findAlertRule = (executor: Executor, id: string): Promise<AlertRule | undefined> =>
  executor.selectFrom('alert_rules').select(columns).where('id', '=', id).executeTakeFirst();

/** The rule, locked until the transaction ends. */
export const findLockedRule = (tx: Tx, id: string): Promise<AlertRule | undefined> =>
  tx.selectFrom('alert_rules').select(columns).where('id', '=', id).forUpdate().executeTakeFirst();

export const insertAlertRule = (
  tx: Tx,
  id: string,
  values: Parameters<typeof alertRules.write>[0],
): Promise<AlertRule> =>
  tx
    .insertInto('alert_rules')
    .values({ id, ...alertRules.write(values) })
    .returning(columns)
    .executeTakeFirstOrThrow();

export const deleteAlertRuleRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('alert_rules').where('id', '=', id).execute();
};

/** Locks the schedule so that it is not deleted before the transaction ends. Returns false if there is none. */
export const lockScheduleForShare = async (tx: Tx, id: string): Promise<boolean> => {
  const { rows } = await sql`select from schedules where id = ${id} for key share`.execute(tx);
  return rows.length > 0;
};

interface Named {
  id: string;
  name: string;
}

/** The agents and schedules that rules are about, by their ids. */
export const listNamesOf = async (
  executor: Executor,
  rules: readonly AlertRule[],
): Promise<{
  agents: ReadonlyMap<string, Named>;
  schedules: ReadonlyMap<string, Named & { agent_id: string }>;
}> => {
  const agentIds = rules.flatMap(({ agent_id }) => agent_id ?? []);
  const scheduleIds = rules.flatMap(({ schedule_id }) => schedule_id ?? []);
  const agents = await sql<Named>`
    select id, name from agents where id = any(${agentIds}::uuid[])`.execute(executor);
  // A schedule without a name is called as its agent, as in alerts.
  const schedules = await sql<Named & { agent_id: string }>`
    select s.id, coalesce(s.work_item_name, a.name) as name, s.agent_id
    from schedules s join agents a on a.id = s.agent_id
    where s.id = any(${scheduleIds}::uuid[])`.execute(executor);
  return {
    agents: new Map(agents.rows.map((agent) => [agent.id, agent])),
    schedules: new Map(schedules.rows.map((schedule) => [schedule.id, schedule])),
  };
};
