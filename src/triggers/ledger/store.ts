import { type Executor, type RawBuilder, sql, type Tx } from '../../database/index.ts';
import type { Outcome } from '../deliveries/delivery.ts';
import type { EventRow } from '../deliveries/store.ts';

/** An entry as readers see it. */
export interface LedgerRow extends Omit<EventRow, 'identity' | 'body_hash' | 'depth'> {
  body_kept: boolean;
}

/** The columns of `trigger_events e`. */
const columns: RawBuilder<unknown> = sql`e.id, e.trigger_id, e.event_id, e.position, e.type, e.at, e.outcome, e.reason,
  e.work_item_id, e.starts_at, e.original_id, e.deliveries, e.differing, e.last_delivery_at, e.revision, e.principal,
  exists (select from trigger_event_bodies b where b.id = e.id) as body_kept`;

export interface LedgerFilter {
  outcome: Outcome | null;
  /** After this. */
  from: Date | null;
  /** Up to and including this. */
  to: Date | null;
  /** How the sender's name of the event begins. */
  q: string | null;
}

/** The entries of a trigger, newest first. */
export const listEvents = async (
  executor: Executor,
  triggerId: string,
  { outcome, from, to, q }: LedgerFilter,
  page: { limit: number; before: { at: Date; id: string } | null },
): Promise<LedgerRow[]> => {
  const conditions = [sql`e.trigger_id = ${triggerId}`];
  if (outcome !== null) conditions.push(sql`e.outcome = ${outcome}`);
  if (from !== null) conditions.push(sql`e.at > ${from}`);
  if (to !== null) conditions.push(sql`e.at <= ${to}`);
  if (q !== null) conditions.push(sql`e.event_id >= ${q} and e.event_id < ${`${q}\u{10ffff}`}`);
  if (page.before)
    conditions.push(sql`(e.at, e.id) < (${page.before.at}::timestamptz, ${page.before.id}::uuid)`);
  const { rows } = await sql<LedgerRow>`
    select ${columns} from trigger_events e where ${sql.join(conditions, sql` and `)}
    order by e.at desc, e.id desc limit ${page.limit}`.execute(executor);
  return rows;
};

export const findEvent = async (
  executor: Executor,
  triggerId: string,
  id: string,
): Promise<(LedgerRow & { content: string | null; depth: number }) | undefined> => {
  const { rows } = await sql<LedgerRow & { content: string | null; depth: number }>`
    select ${columns}, e.depth, (select content from trigger_event_bodies b where b.id = e.id) as content
    from trigger_events e where e.id = ${id} and e.trigger_id = ${triggerId}`.execute(executor);
  return rows[0];
};

/** The latest entry that the sender calls so, or that a broker has at this position. */
export const findNamed = async (
  executor: Executor,
  triggerId: string,
  name: string,
): Promise<LedgerRow | undefined> => {
  const { rows } = await sql<LedgerRow>`
    select * from (
      (select ${columns} from trigger_events e where e.trigger_id = ${triggerId} and e.event_id = ${name}
        order by e.at desc limit 1)
      union all
      (select ${columns} from trigger_events e where e.trigger_id = ${triggerId} and e.position = ${name} limit 1)
    ) named limit 1`.execute(executor);
  return rows[0];
};

/** The last entry of each of these triggers. */
export const listLast = async (executor: Executor, ids: readonly string[]): Promise<LedgerRow[]> => {
  const { rows } = await sql<LedgerRow>`
    select last.* from unnest(${ids}::uuid[]) as t(id) cross join lateral (
      select ${columns} from trigger_events e where e.trigger_id = t.id order by e.at desc, e.id desc limit 1) last`.execute(
    executor,
  );
  return rows;
};

/** What is kept of the events of a trigger: these, by the ids of their entries or by their names, or the last ones. */
export const listKept = async (
  executor: Executor,
  triggerId: string,
  { names, limit }: { names: { ids: readonly string[]; names: readonly string[] } | null; limit: number },
): Promise<{ id: string; event_id: string; depth: number; content: string | null }[]> => {
  const chosen = names
    ? sql`(e.id = any(${names.ids}::uuid[]) or e.event_id = any(${names.names}::text[]))`
    : sql`exists (select from trigger_event_bodies b where b.id = e.id)`;
  const { rows } = await sql<{ id: string; event_id: string; depth: number; content: string | null }>`
    select e.id, e.event_id, e.depth, b.content from (
      select e.id, e.event_id, e.depth, e.at from trigger_events e where e.trigger_id = ${triggerId} and ${chosen}
      order by e.at desc, e.id desc limit ${limit}) e
    left join trigger_event_bodies b on b.id = e.id order by e.at desc, e.id desc`.execute(executor);
  return rows;
};

export interface Count {
  trigger_id: string;
  outcome: string;
  reason: string;
  count: number;
}

/** The sums of what was counted in the minutes of [from, to). */
export const sumCounts = async (
  executor: Executor,
  ids: readonly string[],
  from: Date,
  to: Date,
): Promise<Count[]> => {
  const { rows } = await sql<Count>`
    select trigger_id, outcome, reason, sum(count)::integer as count from trigger_event_counts
    where trigger_id = any(${ids}::uuid[]) and minute >= ${from} and minute < ${to}
    group by trigger_id, outcome, reason`.execute(executor);
  return rows;
};

/** Stores an entry for an event that a person delivered again. */
export const insertManual = async (
  tx: Tx,
  row: {
    id: string;
    triggerId: string;
    identity: string;
    original: Pick<LedgerRow, 'id' | 'event_id' | 'type' | 'position'>;
    workItemId: string;
    revision: number;
    principal: string;
    content: string;
  },
): Promise<void> => {
  const { original } = row;
  await sql`
    with entry as (
      insert into trigger_events (id, trigger_id, identity, event_id, position, type, at, outcome, work_item_id,
        original_id, last_delivery_at, revision, principal)
      values (${row.id}, ${row.triggerId}, decode(${row.identity}, 'hex'), ${original.event_id}, ${original.position},
        ${original.type}, platform_now(), 'manual', ${row.workItemId}, ${original.id}, platform_now(), ${row.revision},
        ${row.principal}::jsonb)
    )
    insert into trigger_event_bodies (id, at, content) values (${row.id}, platform_now(), ${row.content})`.execute(
    tx,
  );
};
