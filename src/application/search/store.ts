import { type Executor, type RawBuilder, sql } from '../../database/index.ts';
import { idsBeginning } from '../../lib/ids.ts';
import { noAgent, things } from '../things.ts';

/** Something that was found. */
export interface Hit {
  id: string;
  title: string;
  detail: string;
  /** The agent of a schedule, whose address has it. */
  agent_id: string | null;
}

const most = 5;
/** Limit of the waiting Work Items that are searched by name: any number may wait at a time. */
const mostPending = 2_000;

const contains = (text: RawBuilder<unknown>, q: string) => sql`strpos(lower(${text}), lower(${q})) > 0`;

const idBegins = (id: RawBuilder<unknown>, q: string) => {
  const ids = idsBeginning(q);
  return ids ? sql`${id} between ${ids.first}::uuid and ${ids.last}::uuid` : sql`false`;
};

interface More {
  condition: RawBuilder<unknown>;
  /** Another match. */
  also: RawBuilder<unknown>;
  /** The order before all other. */
  first: RawBuilder<unknown>;
}

/** The things of a kind whose name has the text, or whose id begins with it: those whose name begins with it first, then the newest. */
export const findThings = async (
  executor: Executor,
  kind: string,
  q: string,
  more?: More,
): Promise<Hit[]> => {
  const { from, name, detail, also, agentId } = things[kind]!;
  const id = sql`t.id`;
  const matches = [contains(name, q), ...(also ? [contains(also, q)] : []), idBegins(id, q)];
  const { rows } =
    await sql<Hit>`select t.id, ${name} as title, ${detail} as detail, ${agentId ?? noAgent} as agent_id
    from ${from} where ${more?.condition ?? sql`true`} and (${sql.join([...(more ? [more.also] : []), ...matches], sql` or `)})
    order by ${more ? sql`${more.first},` : sql``} starts_with(lower(${name}), lower(${q})) desc, t.id desc
    limit ${most}`.execute(executor);
  return rows;
};

/** `owner` null: the keys of everyone; else those that this principal created or owns. */
export const findKeys = (executor: Executor, q: string, owner: string | null): Promise<Hit[]> => {
  const condition =
    owner === null ? sql`true` : sql`(t.created_by = ${owner} or t.owner_user_id::text = ${owner})`;
  const prefix = sql`starts_with(t.prefix, ${q})`;
  return findThings(executor, 'api_key', q, { condition, also: prefix, first: sql`${prefix} desc` });
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

export const findWorkItems = async (executor: Executor, q: string): Promise<Hit[]> => {
  const { rows } = await sql<Hit>`select w.id, coalesce(w.work_item_name, w.id::text) as title,
        w.status || coalesce(', ' || a.name, '') as detail, ${noAgent} as agent_id
      from (${workItemIds(q)}) found join work_items w on w.id = found.id left join agents a on a.id = w.agent_id
      order by w.id desc limit ${most}`.execute(executor);
  return rows;
};
