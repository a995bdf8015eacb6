import { type Executor, planEachTime, type RawBuilder, sql } from '../../database/index.ts';
import { finishedStatuses, type Status, statuses } from '../states.ts';
import {
  and,
  type Condition,
  type Conditions,
  conditionsOf,
  type Lead,
  ofStatus,
  time,
  type WorkItemSearch,
  waitsForTime,
} from './conditions.ts';

const waitForPerson = ['NEEDS_REVIEW', 'INDETERMINATE'] as const satisfies readonly Status[];
const without = (left: readonly Status[]): Status[] => statuses.filter((status) => !left.includes(status));

/** A part of a list: rows of these statuses, in this order. */
interface Part {
  statuses: readonly Status[];
  key: RawBuilder<unknown>;
  /** Type of the key in the database. */
  type: 'time' | 'number';
  ascending?: true;
  where?: Condition;
}

const byCreation = { key: sql`w.created_at`, type: 'time' } as const;

/** Milliseconds from the start of the last attempt to the end; -1 if none began. An index has the same text. */
const duration = sql`coalesce((extract(epoch from w.finished_at - w.started_at) * 1000)::bigint, -1)`;
const isFinished = sql`w.finished_at is not null`;

/** The orders of a list. What an order is not about follows at the end, newest first. */
const parts = {
  created: [{ statuses, ...byCreation }],
  finished: [
    { statuses: finishedStatuses, key: sql`w.finished_at`, type: 'time', where: isFinished },
    { statuses: without(finishedStatuses), ...byCreation },
  ],
  duration: [
    { statuses: finishedStatuses, key: duration, type: 'number', where: isFinished },
    { statuses: without(finishedStatuses), ...byCreation },
  ],
  waiting: [
    { statuses: waitForPerson, key: sql`w.updated_at`, type: 'time', ascending: true },
    { statuses: without(waitForPerson), ...byCreation },
  ],
  // No index: a column that each step changes would make every step write all indexes.
  cost: [{ statuses, key: sql`w.cost_nano_usd`, type: 'number' }],
} as const satisfies Record<string, readonly Part[]>;

export type Sort = keyof typeof parts;
export const sorts = Object.keys(parts) as Sort[];

/** A row of a list: the page after it begins there. */
export interface Position {
  sort: Sort;
  part: number;
  /** A time in milliseconds since 1970, or the number. */
  key: number;
  id: string;
}

/** For each status the lead with the fewest rows, if an index finds at most so many by it. */
type SmallLeads = ReadonlyMap<Status, Lead>;

/**
 * Finds out by which lead to read each of the statuses. The planner cannot know: how a name begins, or which errors which
 * agent has. Rows found by a small lead are read whole and sorted. If there is none, an index in the order of the list
 * soon comes to enough rows that match.
 */
const findSmallLeads = async (
  executor: Executor,
  leads: readonly Lead[],
  wanted: readonly Status[],
  most: number,
): Promise<SmallLeads> => {
  const given = leads.find(({ small }) => small);
  if (given) return new Map(wanted.map((status) => [status, given]));
  if (leads.length === 0 || wanted.length === 0) return new Map();
  const counts = leads.flatMap((lead, index) =>
    wanted.map(
      (status) => sql`select ${sql.lit(status)} as status, ${sql.lit(index)} as lead,
        (select count(*) from (${lead.ids(status, most + 1)}) counted)::integer as n`,
    ),
  );
  const { rows } = await sql<{ status: Status; lead: number; n: number }>`${planEachTime}
    select status, lead from (${sql.join(counts, sql` union all `)}) counts where n <= ${most} order by n desc`.execute(
    executor,
  );
  return new Map(rows.map(({ status, lead }) => [status, leads[lead]!]));
};

/**
 * Each half of PENDING ones is in the order of an index: that of all has the expression, and those of one agent have the
 * other condition, which keeps the planner from reading the index of all for each agent.
 */
const halvesOf = (status: Status, ofAgents: boolean): Condition[] => {
  if (status !== 'PENDING') return [sql`true`];
  return ofAgents
    ? [sql`w.not_before is null`, sql`w.not_before is not null`]
    : [sql`${waitsForTime} = 0`, sql`${waitsForTime} = 1`];
};

interface Branches {
  conditions: Conditions;
  small: SmallLeads;
  /** Number of rows that a small lead has at most. */
  most: number;
  wanted: readonly Status[];
  /** Further conditions. */
  where?: readonly Condition[];
  /** The rows are wanted in the order of their creation. */
  inOrderOfCreation: boolean;
}

/**
 * Returns the union of `select` over the rows of each status. Each branch reads an index in its order, up to its limit,
 * however many rows there are. The statuses are literals, so that the planner knows how many rows each of them has.
 */
const ofEachStatus = (
  { conditions, small, most, wanted, where = [], inOrderOfCreation }: Branches,
  select: (from: RawBuilder<unknown>) => RawBuilder<unknown>,
): RawBuilder<unknown> => {
  const { agents, leads, others } = conditions;
  const selectFrom = (from: RawBuilder<unknown>, all: readonly Condition[]) =>
    select(sql`${from} where ${and([...all, ...others, ...where])}`);
  const branches = wanted.map((status) => {
    const matches = leads.map(({ condition }) => condition);
    const lead = small.get(status);
    if (lead) {
      const ids = sql`(select distinct id from (${lead.ids(status, most)}) ids offset 0) candidate`;
      // Each `offset 0` keeps the planner, which may know nothing of the table, from another order of the two.
      const from = sql`${ids} cross join lateral (
        select * from work_items one where one.id = candidate.id offset 0) w`;
      return sql`(${selectFrom(from, [ofStatus(status), ...matches])})`;
    }
    const isOrdered = ({ byCreation }: Lead) => inOrderOfCreation && byCreation;
    // `is true` keeps the planner from an index that would find too many rows, and not in order.
    const steered = leads.map((one) => (isOrdered(one) ? one.condition : sql`(${one.condition}) is true`));
    const halves = halvesOf(status, agents !== null).map((half) => {
      const all = [ofStatus(status), half, ...steered];
      if (!inOrderOfCreation || !agents || agents.length === 1) {
        return sql`(${selectFrom(sql`work_items w`, all)})`;
      }
      const ofAgent = selectFrom(sql`work_items w`, [sql`w.agent_id = agent.id`, ...all]);
      return sql`(select found.* from unnest(${agents}::uuid[]) agent(id) cross join lateral (${ofAgent}) found)`;
    });
    return sql.join(halves, sql` union all `);
  });
  return sql.join(branches, sql` union all `);
};

/** Number of rows up to which they are read and sorted: 40 ms. */
const mostSorted = 15_000;

/** The rows of one part of a list, at most `limit`. */
const findPart = async (
  executor: Executor,
  conditions: Conditions,
  { statuses: all, key, type, ascending, where }: Part,
  { after, limit, few }: { after: Position | null; limit: number; few: number },
): Promise<{ id: string; key: number }[]> => {
  const wanted = all.filter((status) => conditions.statuses?.includes(status) ?? true);
  if (wanted.length === 0) return [];
  const inOrderOfCreation = key === byCreation.key;
  const { leads } = conditions;
  const isServed = inOrderOfCreation && leads.length === 1 && leads[0]!.byCreation;
  const small = await findSmallLeads(executor, isServed ? [] : leads, wanted, few);
  const order = ascending ? sql`asc` : sql`desc`;
  const last = after && (type === 'time' ? time(after.key) : sql`${after.key}::bigint`);
  const beyond = ascending ? sql`>` : sql`<`;
  const further = [
    ...(where ? [where] : []),
    ...(after ? [sql`(${key}, w.id) ${beyond} (${last}, ${after.id}::uuid)`] : []),
  ];
  const branches = ofEachStatus(
    { conditions, small, most: few, wanted, where: further, inOrderOfCreation },
    (from) => sql`select w.id, ${key} as key from ${from}
      order by ${key} ${order}, w.id ${order} limit ${limit}`,
  );
  const { rows } = await sql<{ id: string; key: Date | number }>`${planEachTime}
    select id, key from (${branches}) found order by key ${order}, id ${order} limit ${limit}`.execute(
    executor,
  );
  return rows.map((row) => ({ id: row.id, key: Number(row.key) }));
};

/** The Work Items that match, in the order of `sort`, after `after`, at most `limit`. */
export const searchWorkItems = async (
  executor: Executor,
  search: WorkItemSearch,
  {
    sort,
    after,
    limit,
    few = mostSorted,
  }: { sort: Sort; after: Position | null; limit: number; few?: number },
): Promise<Position[]> => {
  const conditions = conditionsOf(search);
  const found: Position[] = [];
  if (!conditions) return found;
  const all: readonly Part[] = parts[sort];
  for (let part = after?.part ?? 0; part < all.length && found.length < limit; part++) {
    const page = { after: after?.part === part ? after : null, limit: limit - found.length, few };
    const rows = await findPart(executor, conditions, all[part]!, page);
    found.push(...rows.map((row) => ({ sort, part, ...row })));
  }
  return found;
};

/** Counts the matches in each status, whatever the status that is searched for: at most `cap` in each. */
export const countByStatus = async (
  executor: Executor,
  search: WorkItemSearch,
  cap: number,
): Promise<Record<Status, number>> => {
  const counts = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<Status, number>;
  const conditions = conditionsOf({ ...search, status: undefined });
  if (!conditions) return counts;
  const { leads, others } = conditions;
  const isServed = leads.length === 1 && leads[0]!.byCreation;
  const small = await findSmallLeads(executor, isServed ? [] : leads, statuses, cap);
  // Nothing but a lead that has more.
  const more = others.length === 0 && leads.length === 1 && leads[0]!.exact && !isServed;
  const wanted = more ? statuses.filter((status) => small.has(status)) : statuses;
  if (more) for (const status of statuses) counts[status] = cap;
  for (const status of wanted) counts[status] = 0;
  if (wanted.length === 0) return counts;
  const branches = ofEachStatus(
    { conditions: { ...conditions, agents: null }, small, most: cap, wanted, inOrderOfCreation: true },
    (from) => sql`select status, count(*)::integer as n
      from (select w.status from ${from} limit ${cap}) counted group by status`,
  );
  const { rows } = await sql<{ status: Status; n: number }>`${planEachTime}
    ${branches}`.execute(executor);
  for (const { status, n } of rows) counts[status] = Math.min(cap, counts[status] + n);
  return counts;
};

/** Counts the matches that were created later than `than`: at most `cap`. */
export const countNewer = async (
  executor: Executor,
  search: WorkItemSearch,
  than: { id: string; created_at: Date },
  cap: number,
): Promise<number> => {
  const conditions = conditionsOf(search);
  if (!conditions) return 0;
  const wanted = conditions.statuses ?? statuses;
  const newer = sql`(w.created_at, w.id) > (${than.created_at}, ${than.id}::uuid)`;
  const branches = ofEachStatus(
    { conditions, small: new Map(), most: 0, wanted, where: [newer], inOrderOfCreation: true },
    (from) => sql`select 1 from ${from} limit ${cap}`,
  );
  const { rows } = await sql<{ n: number }>`${planEachTime}
    select count(*)::integer as n from (select from (${branches}) found limit ${cap}) counted`.execute(
    executor,
  );
  return rows[0]!.n;
};

/** The ids of all that match, in the order of their creation, at most `limit`. */
export const listMatchingIds = async (
  executor: Executor,
  search: WorkItemSearch,
  limit: number,
): Promise<string[]> => {
  const conditions = conditionsOf(search);
  if (!conditions) return [];
  const wanted = conditions.statuses ?? statuses;
  const { leads } = conditions;
  const small = leads.some((lead) => lead.small)
    ? await findSmallLeads(executor, leads, wanted, limit)
    : new Map();
  const branches = ofEachStatus(
    { conditions: { ...conditions, agents: null }, small, most: limit, wanted, inOrderOfCreation: true },
    (from) => sql`select w.id, w.created_at from ${from} order by w.created_at, w.id limit ${limit}`,
  );
  const { rows } = await sql<{ id: string }>`${planEachTime}
    select id from (${branches}) found order by created_at, id limit ${limit}`.execute(executor);
  return rows.map(({ id }) => id);
};
