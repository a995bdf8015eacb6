import {
  advisoryLock,
  type Executor,
  type RawBuilder,
  sentWithNext,
  sql,
  type Tx,
} from '../database/index.ts';
import type { Claimer } from '../runs/index.ts';
import { workItemRuns } from './runs.ts';
import { waitsForTime } from './search/conditions.ts';
import type { WorkItem } from './store.ts';

/** Number of the oldest that are read to get past those of agents without room: 0.7 ms. */
const window = sql.lit(2_000);

/**
 * Returns the number of the others that are considered: more than `limit`, because an agent may have room for only
 * some of them.
 */
const headLength = (limit: number): number => 2 * limit + 20;

const executing = sql`executing as (
  select agent_id, count(*)::integer as n from work_items where status = 'EXECUTING' group by agent_id)`;

/** The Work Items of these are for external workers, which claim them by `claimFor`. */
const external = sql`select id from agents where execution = 'external'`;

interface Search {
  limit: number;
  /** Ids to leave out. */
  except: readonly string[];
}

interface Head {
  ids: string[];
  /** True if others that can be claimed may exist, beyond those that were read. */
  more: boolean;
  /** True if retries are due and in no queue yet. */
  retriesDue: boolean;
}

/** Work Items that the platform can claim among the oldest of all agents, oldest first: nearly always enough. */
export const claimableInHead = ({ limit, except }: Search): RawBuilder<Head> =>
  sql`with ${executing}, oldest as (
      select id, agent_id, created_at from work_items where status = 'PENDING' and ${waitsForTime} = 0
      order by created_at, id limit ${window}
    ), head as (
      select o.id, o.agent_id, o.created_at from oldest o
      where o.id <> all(${except}::uuid[]) and o.agent_id not in (
        select e.agent_id from executing e
        where e.n >= (select a.max_concurrency from agents a where a.id = e.agent_id))
        and o.agent_id not in (${external})
      order by o.created_at, o.id limit ${headLength(limit)}
    ), ranked as (
      select h.id, h.created_at,
        (select a.max_concurrency from agents a where a.id = h.agent_id) - coalesce(e.n, 0) as room,
        row_number() over (partition by h.agent_id order by h.created_at, h.id) as rank
      from head h left join executing e on e.agent_id = h.agent_id
    )
    select array(select id from ranked where rank <= room order by created_at, id limit ${limit}) as ids,
      case when (select count(*) from head) = ${headLength(limit)} then true
        else exists (
          select from work_items where status = 'PENDING' and ${waitsForTime} = 0
          order by created_at, id limit 1 offset ${window}) end as more,
      coalesce((select min(not_before) from work_items where status = 'PENDING') <= platform_now(), false)
        as "retriesDue"`;

/**
 * The oldest that can be claimed, however many older ones cannot: from the queues of the agents. A loose index scan
 * steps from queue to queue, about 10 µs each, however long they are. The `limit` oldest are in the `limit` queues with
 * the oldest first Work Item, so no more queues are read further.
 *
 * The constant limit never has an effect: it is the maximum of `max_concurrency`. It makes the planner read the index
 * in order; with only a limit that it does not know, it might sort the whole queue instead.
 */
export const claimableInQueues = ({ limit, except }: Search): RawBuilder<{ id: string }> => {
  const queued = sql`status = 'PENDING' and not_before is null and id <> all(${except}::uuid[])`;
  return sql`with recursive ${executing}, queues as (
      (select agent_id, created_at, id from work_items where ${queued}
        order by agent_id, created_at, id limit 1)
      union all
      select first.* from queues q cross join lateral (
        select agent_id, created_at, id from work_items where ${queued} and agent_id > q.agent_id
        order by agent_id, created_at, id limit 1) first
    ), oldest as (
      select q.agent_id, a.max_concurrency - coalesce(e.n, 0) as room
      from queues q join agents a on a.id = q.agent_id left join executing e on e.agent_id = a.id
      where a.max_concurrency > coalesce(e.n, 0) and a.execution = 'platform' order by q.created_at, q.id limit ${limit}
    )
    select w.id from oldest o cross join lateral (
      select * from (
        select id, created_at from work_items where ${queued} and agent_id = o.agent_id
        order by created_at, id limit 1000
      ) queue limit least(o.room, ${limit})
    ) w
    order by w.created_at, w.id limit ${limit}`;
};

/** The oldest that external workers of these agents can claim, from the queue of each agent as above. */
const claimableOf = (
  agentIds: readonly string[],
  { limit, except }: Search,
): RawBuilder<{ id: string }> => sql`
  with ${executing}
  select w.id from agents a left join executing e on e.agent_id = a.id cross join lateral (
    select * from (
      select id, created_at from work_items
      where status = 'PENDING' and not_before is null and id <> all(${except}::uuid[]) and agent_id = a.id
      order by created_at, id limit 1000
    ) queue limit least(greatest(0, a.max_concurrency - coalesce(e.n, 0)), ${limit})
  ) w
  where a.id = any(${agentIds}::uuid[]) and a.execution = 'external'
  order by w.created_at, w.id limit ${limit}`;

/** Returns those of `agentIds` for which an external worker may find something to claim now. Locks nothing. */
export const findClaimableAgents = async (
  executor: Executor,
  agentIds: readonly string[],
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    with ${executing}
    select a.id from agents a left join executing e on e.agent_id = a.id
    where a.id = any(${agentIds}::uuid[]) and a.execution = 'external' and a.max_concurrency > coalesce(e.n, 0)
      and exists (select from work_items where status = 'PENDING' and agent_id = a.id
        and (not_before is null or not_before <= platform_now()))`.execute(executor);
  return rows.map(({ id }) => id);
};

/**
 * Makes the planner read each index in order, up to the limit, until the end of the transaction. With old statistics,
 * which the embedded database always has, it expects few rows, and would fetch the whole backlog by a bitmap and sort
 * it.
 */
const readInOrder = async (tx: Tx): Promise<void> => {
  await sql`${sentWithNext} select set_config('enable_bitmapscan', 'off', true)`.execute(tx);
};

type Taken = Awaited<ReturnType<typeof workItemRuns.take>>;

const inOrder = (rows: Taken, ids: readonly string[]): Taken =>
  rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));

/** Number of retries that one statement puts into the queues: 0.15 s. */
const retriesAtOnce = 5_000;

/** Puts retries that are due into the queues of their agents; returns how many. */
const queueDueRetries = async (tx: Tx): Promise<number> => {
  const { numAffectedRows } = await sql`
    update work_items set not_before = null where id in (
      select id from work_items where status = 'PENDING' and not_before <= (select platform_now())
      order by not_before limit ${sql.lit(retriesAtOnce)} for update skip locked)`.execute(tx);
  return Number(numAffectedRows);
};

/** Whether a claim does not have to look beyond the head. */
const isEnough = ({ ids, more, retriesDue }: Head, limit: number): boolean =>
  !retriesDue && (ids.length === limit || !more);

/**
 * Reads the head, and takes what can be claimed of it if that is enough: nearly always all of a claim. The second statement
 * reads the ids from a setting of the transaction, so both are one round trip. It is planned without sequential scans: a plan
 * that was made on a small table would read the whole backlog. After a vacuum of an empty table PostgreSQL may still choose
 * to read an index of the backlog, 10 ms for 20,000, until the next ANALYZE.
 */
const takeHead = async (tx: Tx, limit: number, claimer: Claimer): Promise<{ head: Head; taken: Taken }> => {
  await sql`${sentWithNext} select set_config('platform.claim_head', to_json(h)::text, true),
      set_config('platform.claim_ids', case
        when not h."retriesDue" and (cardinality(h.ids) = ${limit}::integer or not h.more) then h.ids
        else '{}' end::text, true),
      set_config('enable_seqscan', 'off', true)
    from (${claimableInHead({ limit, except: [] })}) h`.execute(tx);
  type Row = { head: Head | null; setting: string | null; n: number | null } & {
    [C in keyof Taken[number]]: Taken[number][C] | null;
  };
  const { rows } = await sql<Row>`with free as (
      select id from work_items
      where id = any(current_setting('platform.claim_ids')::uuid[]) and status = 'PENDING' for update skip locked
    ), taken as (${workItemRuns.claimStatement(claimer)}), numbered as (select *, row_number() over () as n from taken)
    select t.*, case when coalesce(t.n, 1) = 1 then current_setting('platform.claim_head')::jsonb end as head,
      case when coalesce(t.n, 1) = 1 then set_config('enable_seqscan', 'on', true) end as setting
    from (select) one left join numbered t on true`.execute(tx);
  const { head } = rows.find((row) => row.head !== null)!;
  const taken = rows.flatMap(({ head: _, setting: __, n, ...row }) =>
    n === null ? [] : [row as Taken[number]],
  );
  return { head: head!, taken: inOrder(taken, head!.ids) };
};

/**
 * The ids of what can be claimed now, oldest first, for each agent at most as many as it has room for. Locks none of them.
 * `read`: the head, if it was just read.
 */
const selectClaimable = async (tx: Tx, search: Search, read?: Head): Promise<string[]> => {
  const readHead = async () => (await claimableInHead(search).execute(tx)).rows[0]!;
  let head = read ?? (await readHead());
  while (head.retriesDue) {
    const queued = await queueDueRetries(tx);
    if (queued > 0) head = await readHead();
    if (queued < retriesAtOnce) break;
  }
  if (head.ids.length === search.limit || !head.more) return head.ids;
  const { rows } = await claimableInQueues(search).execute(tx);
  return rows.map((row) => row.id);
};

/** Makes EXECUTING those of `ids` that are still PENDING and that no other transaction has locked. */
const take = async (tx: Tx, ids: readonly string[], claimer: Claimer): Promise<Taken> => {
  if (ids.length === 0) return [];
  const free = sql`select id from work_items
    where id = any(${ids}::uuid[]) and status = 'PENDING' for update skip locked`;
  return inOrder(await workItemRuns.take(tx, claimer, free), ids);
};

/** What was found, and what was taken of it. */
interface Claimed {
  ids: readonly string[];
  taken: Taken;
}

/**
 * Claims what `select` finds, until it has `limit` or there is no more. What another transaction has locked is left out.
 * `claimHead` is tried first. It returns null if it claimed nothing.
 *
 * The room of an agent is exact because only one claim runs at a time (the advisory lock lasts until the commit) and
 * nothing but a claim makes a Work Item EXECUTING: what is counted under the lock can only become less.
 */
const claim = async (
  tx: Tx,
  limit: number,
  claimer: Claimer,
  select: (search: Search) => Promise<string[]>,
  claimHead: () => Promise<Claimed | null> = async () => null,
): Promise<WorkItem[]> => {
  await advisoryLock(tx, 'work item claims', { withNext: true });
  await readInOrder(tx);
  const claimed: Taken = [];
  const locked: string[] = [];
  const claimMore = async (): Promise<Claimed> => {
    const ids = await select({ limit: limit - claimed.length, except: locked });
    return { ids, taken: await take(tx, ids, claimer) };
  };
  let last = (await claimHead()) ?? (await claimMore());
  for (;;) {
    const { ids, taken } = last;
    claimed.push(...taken);
    if (taken.length === ids.length) break;
    const got = new Set(taken.map(({ id }) => id));
    locked.push(...ids.filter((id) => !got.has(id)));
    last = await claimMore();
  }
  await workItemRuns.recordClaim(tx, claimed, claimer);
  return claimed;
};

/**
 * Claims up to `limit` Work Items that are due, oldest first, for `leaseSeconds`, never more of an agent than its
 * `max_concurrency` over all replicas; fewer than `limit` only if there are no more. Those of agents with external
 * workers are left out. The time that it takes depends on how many agents have due Work Items, not on how many.
 */
export const claimWorkItems = (
  tx: Tx,
  { limit, ...claimer }: Claimer & { limit: number },
): Promise<WorkItem[]> => {
  let read: Head | undefined;
  return claim(
    tx,
    limit,
    claimer,
    (search) => {
      const head = read;
      read = undefined;
      return selectClaimable(tx, search, head);
    },
    async () => {
      const { head, taken } = await takeHead(tx, limit, claimer);
      if (isEnough(head, limit)) return { ids: head.ids, taken };
      read = head;
      return null;
    },
  );
};

/** Claims Work Items of these agents for an external worker. */
export const claimFor = (
  tx: Tx,
  agentIds: readonly string[],
  { limit, ...claimer }: Claimer & { limit: number },
): Promise<WorkItem[]> =>
  claim(tx, limit, claimer, async (search) => {
    while ((await queueDueRetries(tx)) === retriesAtOnce);
    const { rows } = await claimableOf(agentIds, search).execute(tx);
    return rows.map((row) => row.id);
  });
