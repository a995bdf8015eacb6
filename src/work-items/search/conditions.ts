import { type RawBuilder, sql } from '../../database/index.ts';
import { idsBeginning, isId } from '../../lib/ids.ts';
import type { Status } from '../states.ts';

/**
 * Sort key of PENDING Work Items, literally as in the index that is in their order: 0 if the Work Item can be claimed,
 * 1 if it waits for a time.
 */
export const waitsForTime = sql`(case when not_before is null then 0 else 1 end)`;

/** Filters of a list of Work Items. An absent filter does not restrict it. Times are milliseconds since 1970. */
export interface WorkItemSearch {
  ids?: readonly string[] | undefined;
  status?: readonly Status[] | undefined;
  agent_id?: readonly string[] | undefined;
  /** A version of the one agent. */
  agent_version?: number | undefined;
  schedule_id?: string | undefined;
  trigger_id?: string | undefined;
  source?: Source | undefined;
  error_code?: string | undefined;
  /** The time itself is included, and that of `created_to` is not; so for `finished`. */
  created_from?: number | undefined;
  created_to?: number | undefined;
  finished_from?: number | undefined;
  finished_to?: number | undefined;
  min_cost_nano_usd?: number | undefined;
  /** Beginning of the name or the id. */
  q?: string | undefined;
}

/** Creators of a Work Item: a schedule at its time, a trigger for an event, a service account, or a person. */
export const sources = ['schedule', 'trigger', 'api', 'person'] as const;
export type Source = (typeof sources)[number];

/** Returns the creator of a row, by the same rules as the conditions below. */
export const sourceOf = (row: {
  occurrence: Date | null;
  by_person: boolean;
  created_by: string;
}): Source => {
  if (row.occurrence !== null) return 'schedule';
  if (row.created_by === 'trigger') return 'trigger';
  return row.by_person ? 'person' : 'api';
};

/** Those of keys and people, literally as in the index of them. */
const byHand = sql`w.occurrence is null and w.created_by <> 'trigger'`;

const sourceConditions: Record<Source, RawBuilder<unknown>> = {
  schedule: sql`w.occurrence is not null`,
  trigger: sql`w.created_by = 'trigger'`,
  api: sql`${byHand} and not w.by_person`,
  person: sql`${byHand} and w.by_person`,
};

export type Condition = RawBuilder<unknown>;

export const and = (conditions: readonly Condition[]): Condition => sql.join(conditions, sql` and `);

export const time = (milliseconds: number) =>
  sql`to_timestamp(${milliseconds}::double precision / 1000)::timestamptz(3)`;

/** Rows of one status. Those that are neither PENDING nor EXECUTING are in the indexes of migration 0133, whose condition must be there literally. */
export const ofStatus = (status: Status): Condition => {
  const condition = sql`w.status = ${sql.lit(status)}`;
  const busy = status === 'PENDING' || status === 'EXECUTING';
  return busy ? condition : sql`${condition} and w.status not in ('PENDING', 'EXECUTING')`;
};

/** A filter that an index finds the rows of. */
export interface Lead {
  condition: Condition;
  /** Selects the ids of the rows of a status, at most `limit`. */
  ids(status: Status, limit: number): RawBuilder<unknown>;
  /** `ids` selects no rows of other statuses. */
  exact?: boolean;
  /** The index has the rows of each status in the order of their creation. */
  byCreation?: boolean;
  /** True if the status never has many rows. */
  small?: boolean;
}

const leadBy = (condition: Condition): Lead => ({
  condition,
  ids: (status, limit) =>
    sql`select w.id from work_items w where ${and([ofStatus(status), condition])} limit ${limit}`,
  exact: true,
  byCreation: true,
});

/** Ids begin with their time (UUIDv7): with so many digits in common they are of the same five hours. */
const leadingDigits = 6;

/**
 * Returns conditions on the beginning of the name or the id. Ranges and not LIKE, which an index serves only where the
 * collation is C.
 */
const textConditions = (text: string) => {
  const name = sql`lower(w.work_item_name) collate "C"`;
  const named = sql`w.work_item_name is not null
    and ${name} >= lower(${text}) and ${name} < lower(${text}) || ${'\u{10ffff}'}`;
  const range = idsBeginning(text);
  const identified = range && sql`w.id between ${range.first} and ${range.last}`;
  const isLead = !identified || text.replaceAll('-', '').length >= leadingDigits;
  const condition = identified ? sql`(${identified} or (${named}))` : sql`(${named})`;
  const ids = (status: Status, limit: number) => {
    // The order keeps the planner, which does not know how many names begin so, at the index of the names.
    const byName = sql`(select w.id from work_items w where ${and([ofStatus(status), named])}
      order by ${name} limit ${limit})`;
    return identified
      ? sql`${byName} union (select w.id from work_items w where ${identified} limit ${limit})`
      : byName;
  };
  return { condition, lead: isLead ? { condition, ids, exact: !identified } : null };
};

/** A search as SQL. */
export interface Conditions {
  /** Null: of every status. */
  statuses: readonly Status[] | null;
  /** Null: of every agent. */
  agents: readonly string[] | null;
  leads: readonly Lead[];
  /** The other filters. */
  others: readonly Condition[];
}

/** Returns a search as conditions; null: nothing can match. */
export const conditionsOf = (search: WorkItemSearch): Conditions | null => {
  const { schedule_id, trigger_id, source, error_code, q } = search;
  const ids = search.ids?.filter(isId);
  const agents = search.agent_id ? [...new Set(search.agent_id.filter(isId))] : null;
  const known = [schedule_id, trigger_id].every((id) => id === undefined || isId(id));
  const given = [search.status, ids, agents].filter((list) => list != null);
  if (!known || given.some((list) => list.length === 0)) return null;
  const leads: Lead[] = [];
  const others: Condition[] = [];
  if (ids) {
    const given = sql`select unnest(${ids}::uuid[]) as id`;
    leads.push({ condition: sql`w.id = any(${ids}::uuid[])`, ids: () => given, small: true });
  }
  if (schedule_id !== undefined) leads.push(leadBy(sql`w.schedule_id = ${schedule_id}`));
  if (trigger_id !== undefined) leads.push(leadBy(sql`w.trigger_id = ${trigger_id}`));
  if (error_code !== undefined) {
    leads.push(leadBy(sql`w.error is not null and w.error ->> 'code' = ${error_code}`));
  }
  if (agents) {
    leads.push(
      leadBy(agents.length === 1 ? sql`w.agent_id = ${agents[0]}` : sql`w.agent_id = any(${agents}::uuid[])`),
    );
  }
  if (search.agent_version !== undefined) others.push(sql`w.agent_version = ${search.agent_version}`);
  if (source === 'schedule' || source === 'trigger') others.push(sourceConditions[source]);
  else if (source) leads.push(leadBy(sourceConditions[source]));
  if (q !== undefined) {
    const { condition, lead } = textConditions(q);
    if (lead) leads.push(lead);
    else others.push(sql`${condition} is true`);
  }
  if (search.min_cost_nano_usd !== undefined)
    others.push(sql`w.cost_nano_usd >= ${search.min_cost_nano_usd}`);
  const { created_from, created_to, finished_from, finished_to } = search;
  if (created_from !== undefined) others.push(sql`w.created_at >= ${time(created_from)}`);
  if (created_to !== undefined) others.push(sql`w.created_at < ${time(created_to)}`);
  if (finished_from !== undefined) others.push(sql`w.finished_at >= ${time(finished_from)}`);
  if (finished_to !== undefined) {
    // Nothing finishes before it is created: an index by creation begins there.
    others.push(sql`w.finished_at < ${time(finished_to)} and w.created_at < ${time(finished_to)}`);
  }
  return { statuses: search.status ? [...new Set(search.status)] : null, agents, leads, others };
};
