import { type Executor, type RawBuilder, sql } from '../../database/index.ts';
import { idsBeginning } from '../../lib/ids.ts';

/** Something that was found. */
export interface Hit {
  id: string;
  title: string;
  detail: string;
  /** The agent of a schedule, whose address has it. */
  agent_id: string | null;
}

const most = 5;
/** Of the Work Items that wait, only so many are searched by name: any number may wait at a time. */
const mostPending = 2_000;

const contains = (text: RawBuilder<unknown>, q: string) => sql`strpos(lower(${text}), lower(${q})) > 0`;

const idBegins = (id: RawBuilder<unknown>, q: string) => {
  const ids = idsBeginning(q);
  return ids ? sql`${id} between ${ids.first}::uuid and ${ids.last}::uuid` : sql`false`;
};

/** First what begins with the text, then what has it elsewhere, each newest first. */
const best = (text: RawBuilder<unknown>, id: RawBuilder<unknown>, q: string) =>
  sql`starts_with(lower(${text}), lower(${q})) desc, ${id} desc limit ${most}`;

const rowsOf = async (executor: Executor, query: RawBuilder<Hit>): Promise<Hit[]> =>
  (await query.execute(executor)).rows;

const noAgent = sql`null::uuid as agent_id`;

export const findAgents = (executor: Executor, q: string): Promise<Hit[]> => {
  const [name, id] = [sql`a.name`, sql`a.id`];
  return rowsOf(
    executor,
    sql<Hit>`select a.id, a.name as title, a.mode as detail, ${noAgent} from agents a
      where ${contains(name, q)} or ${idBegins(id, q)} order by ${best(name, id, q)}`,
  );
};

/** A schedule has the name of its Work Items; without one it is found by its agent's. */
export const findSchedules = (executor: Executor, q: string): Promise<Hit[]> => {
  const [name, id] = [sql`coalesce(s.work_item_name, a.name)`, sql`s.id`];
  return rowsOf(
    executor,
    sql<Hit>`select s.id, ${name} as title, s.agent_id,
        a.name || ', ' || s.cron_expression || ' ' || s.timezone as detail
      from schedules s join agents a on a.id = s.agent_id
      where ${contains(name, q)} or ${idBegins(id, q)} order by ${best(name, id, q)}`,
  );
};

const rested = ['DRAFT', 'NEEDS_REVIEW', 'INDETERMINATE', 'COMPLETED', 'ERROR', 'CANCELLED'] as const;

/**
 * Work Items whose name or id begins with the text: of each status the last five names, and of equal names the newest. So
 * a text with which a million names begin costs no more than one with a single name, as the list of Work Items, which
 * finds the newest of them all, cannot. Each status is a part of the index by name, which must have its condition
 * literally; few execute.
 */
const workItemIds = (q: string) => {
  const name = sql`lower(w.work_item_name) collate "C"`;
  const begins = sql`w.work_item_name is not null
    and ${name} >= lower(${q}) and ${name} < lower(${q}) || ${'\u{10ffff}'}`;
  const parts = rested.map(
    (status) => sql`(select w.id from work_items w
      where w.status = ${sql.lit(status)} and w.status not in ('PENDING', 'EXECUTING') and ${begins}
      order by ${name} desc, w.id desc limit ${most})`,
  );
  return sql`(select w.id from work_items w where ${idBegins(sql`w.id`, q)} order by w.id desc limit ${most})
    union (select w.id from work_items w where w.status = 'EXECUTING' and ${begins} limit ${most})
    union (select w.id from (select id, work_item_name from work_items where status = 'PENDING'
      order by created_at desc, id desc limit ${mostPending}) w where ${begins} limit ${most})
    union ${sql.join(parts, sql` union `)}`;
};

export const findWorkItems = (executor: Executor, q: string): Promise<Hit[]> =>
  rowsOf(
    executor,
    sql<Hit>`select w.id, coalesce(w.work_item_name, w.id::text) as title,
        w.status || coalesce(', ' || a.name, '') as detail, ${noAgent}
      from (${workItemIds(q)}) found join work_items w on w.id = found.id left join agents a on a.id = w.agent_id
      order by w.id desc limit ${most}`,
  );

export const findIntegrations = (executor: Executor, q: string): Promise<Hit[]> => {
  const [name, id] = [sql`coalesce(i.description, i.provider)`, sql`i.id`];
  return rowsOf(
    executor,
    sql<Hit>`select i.id, ${name} as title, i.provider as detail, ${noAgent}
      from observability_integrations i
      where ${contains(name, q)} or ${contains(sql`i.provider`, q)} or ${idBegins(id, q)}
      order by ${best(name, id, q)}`,
  );
};

/** `owner` null: the keys of everyone; else those that this principal created or owns. */
export const findKeys = (executor: Executor, q: string, owner: string | null): Promise<Hit[]> => {
  const [name, id] = [sql`k.name`, sql`k.id`];
  const owned =
    owner === null ? sql`true` : sql`(k.created_by = ${owner} or k.owner_user_id::text = ${owner})`;
  return rowsOf(
    executor,
    sql<Hit>`select k.id, k.name as title, k.prefix as detail, ${noAgent} from api_keys k
      where ${owned} and (starts_with(k.prefix, ${q}) or ${contains(name, q)} or ${idBegins(id, q)})
      order by starts_with(k.prefix, ${q}) desc, ${best(name, id, q)}`,
  );
};

export const findLlms = (executor: Executor, q: string): Promise<Hit[]> => {
  const [name, id] = [sql`l.name`, sql`l.id`];
  return rowsOf(
    executor,
    sql<Hit>`select l.id, l.name as title, l.kind || ', ' || l.model as detail, ${noAgent}
      from llm_configurations l
      where ${contains(name, q)} or ${contains(sql`l.model`, q)} or ${idBegins(id, q)}
      order by ${best(name, id, q)}`,
  );
};

export const findDataConnections = (executor: Executor, q: string): Promise<Hit[]> => {
  const [name, id] = [sql`d.name`, sql`d.id`];
  return rowsOf(
    executor,
    sql<Hit>`select d.id, d.name as title, d.engine as detail, ${noAgent} from data_connections d
      where ${contains(name, q)} or ${idBegins(id, q)} order by ${best(name, id, q)}`,
  );
};

export const findSemanticDataModels = (executor: Executor, q: string): Promise<Hit[]> => {
  const [name, id] = [sql`m.name`, sql`m.id`];
  return rowsOf(
    executor,
    sql<Hit>`select m.id, m.name as title, d.name as detail, ${noAgent}
      from semantic_data_models m join data_connections d on d.id = m.data_connection_id
      where ${contains(name, q)} or ${idBegins(id, q)} order by ${best(name, id, q)}`,
  );
};

export const findToolServers = (executor: Executor, q: string): Promise<Hit[]> => {
  const [name, id] = [sql`t.name`, sql`t.id`];
  return rowsOf(
    executor,
    sql<Hit>`select t.id, t.name as title, t.prefix || ', ' || t.transport as detail, ${noAgent}
      from tool_servers t
      where ${contains(name, q)} or ${contains(sql`t.prefix`, q)} or ${idBegins(id, q)}
      order by ${best(name, id, q)}`,
  );
};
