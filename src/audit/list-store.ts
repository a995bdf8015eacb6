import { type Executor, type Page, type RawBuilder, selectPage, sql } from '../database/index.ts';
import { type AuditRow, auditColumns } from './store.ts';

/** The filter of a list or an export. Times have milliseconds, like those of the entries. */
export interface AuditFilter {
  principal_id?: string | undefined;
  /** With `*` at its end: every action that begins so. */
  action?: string | undefined;
  target_type?: string | undefined;
  target_id?: string | undefined;
  outcome?: 'done' | 'refused' | undefined;
  request_id?: string | undefined;
  /** from ≤ at < to. */
  from?: Date | undefined;
  to?: Date | undefined;
  /** Only the entries that any of these finds. */
  any?: AuditMatch | undefined;
}

/** Entries with one of these actions, principals, ids of what was changed, or requests. */
export interface AuditMatch {
  actions: readonly string[];
  principals: readonly string[];
  targets: readonly string[];
  requests: readonly string[];
}

/** The columns of an `AuditMatch`, each with an index. */
const matched = [
  ['actions', 'action'],
  ['principals', 'principal_id'],
  ['targets', 'target_id'],
  ['requests', 'request_id'],
] as const satisfies [keyof AuditMatch, string][];

const prefixOf = (action: string | undefined): string | null =>
  action?.endsWith('*') ? action.slice(0, -1) : null;

const column = (name: string) => sql.ref(`audits.${name}`);

/** The condition of `filter`, in SQL. */
const matches = ({ from, to, any, action, ...equal }: AuditFilter): RawBuilder<boolean> => {
  const prefix = prefixOf(action);
  const conditions = Object.entries(prefix === null ? { ...equal, action } : equal)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => sql`${column(name)} = ${value}`);
  if (prefix !== null) conditions.push(sql`starts_with(audits.action, ${prefix})`);
  if (any) {
    const found = matched.map(([key, name]) => sql`${column(name)} = any(${any[key]}::text[])`);
    conditions.push(sql`(${sql.join(found, sql` or `)})`);
  }
  if (from) conditions.push(sql`audits.at >= ${from}`);
  if (to) conditions.push(sql`audits.at < ${to}`);
  return conditions.length === 0 ? sql`true` : sql`${sql.join(conditions, sql` and `)}`;
};

/** Each has an index with the id behind it. The first that a filter names is the one by which its entries are read. */
const indexed = ['request_id', 'target_id', 'principal_id', 'action', 'target_type', 'outcome'] as const;
const [least, greatest] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/**
 * The rows whose `name` is `value`, below the id `next`, as a range of the index on (name, id). For a plain equality
 * PostgreSQL may walk all ids instead, and read a log of millions to find that a value is rare.
 */
const inIndex = (name: string, value: RawBuilder<unknown>, next: string | null): RawBuilder<boolean> =>
  sql<boolean>`${column(name)} is not null and (${column(name)}, audits.id) >= (${value}, ${least}::uuid)
    and (${column(name)}, audits.id) < (${value}, ${next ?? greatest}::uuid)`;

/** Every action that begins with `prefix`. There are few, and each is found by one look into the index. */
const listActions = async (executor: Executor, prefix: string): Promise<string[]> => {
  const { rows } = await sql<{ action: string }>`
    with recursive used as (
      (select action from audits order by action limit 1)
      union all
      select (select a.action from audits a where a.action > used.action order by a.action limit 1)
      from used where used.action is not null
    ) select action from used where starts_with(action, ${prefix})`.execute(executor);
  return rows.map(({ action }) => action);
};

type ListQuery = Page & { offset: number } & AuditFilter;

/** Newest first by `at`: the order of the index that a span of time needs. */
const listByTime = (
  executor: Executor,
  { limit, next, offset, ...filter }: ListQuery,
): Promise<AuditRow[]> => {
  const page = executor
    .selectFrom('audits')
    .select(auditColumns)
    .where(matches(filter))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .offset(offset);
  return (
    next === null
      ? page
      : page.where(sql<boolean>`(at, id) < ((select a.at from audits a where a.id = ${next}), ${next}::uuid)`)
  ).execute();
};

/** Newest first: the newest of each action that begins with `prefix`, and of those the newest. */
const listByPrefix = async (
  executor: Executor,
  prefix: string,
  { limit, next, offset, action: _action, ...filter }: ListQuery,
): Promise<AuditRow[]> => {
  const actions = await listActions(executor, prefix);
  const { rows } = await sql<AuditRow>`
    select entry.* from unnest(${actions}::text[]) as wanted(action) cross join lateral (
      select ${sql.join(auditColumns.map(column))} from audits
      where ${inIndex('action', sql`wanted.action`, next)} and ${matches(filter)}
      order by audits.action desc, audits.id desc limit ${limit + 1 + offset}
    ) entry order by entry.id desc limit ${limit + 1} offset ${offset}`.execute(executor);
  return rows;
};

/** Newest first: the newest that each value of `any` finds, and of those the newest. */
const listMatched = async (
  executor: Executor,
  any: AuditMatch,
  { limit, next, offset, ...filter }: ListQuery,
): Promise<AuditRow[]> => {
  const most = limit + 1 + offset;
  const parts = matched.map(
    ([
      key,
      name,
    ]) => sql`select entry.id from unnest(${any[key]}::text[]) as wanted(value) cross join lateral (
      select audits.id from audits
      where ${inIndex(name, sql`wanted.value`, next)} and ${matches({ ...filter, any: undefined })}
      order by ${column(name)} desc, audits.id desc limit ${most}
    ) entry`,
  );
  const { rows } = await sql<AuditRow>`
    select ${sql.join(auditColumns.map(column))} from audits join (
      select id from (${sql.join(parts, sql` union `)}) one order by id desc limit ${limit + 1} offset ${offset}
    ) found on found.id = audits.id order by audits.id desc`.execute(executor);
  return rows;
};

/**
 * The newest entries first: by id or, with `from` or `to`, by `at`, which differs only for entries of the same instant.
 * A page reads a part of one index, however long the log is.
 */
export const listAudits = (executor: Executor, query: ListQuery): Promise<AuditRow[]> => {
  const { limit, next, offset, ...filter } = query;
  if (filter.from || filter.to) return listByTime(executor, query);
  if (filter.any) return listMatched(executor, filter.any, query);
  const prefix = prefixOf(filter.action);
  const leading = indexed.find(
    (name) => filter[name] !== undefined && (name !== 'action' || prefix === null),
  );
  if (prefix !== null && (leading === undefined || leading === 'target_type' || leading === 'outcome')) {
    return listByPrefix(executor, prefix, query);
  }
  if (leading === undefined) {
    return selectPage(executor.selectFrom('audits').select(auditColumns).offset(offset), { limit, next });
  }
  return executor
    .selectFrom('audits')
    .select(auditColumns)
    .where(inIndex(leading, sql`${filter[leading]}`, next))
    .where(matches({ ...filter, [leading]: undefined }))
    .orderBy(leading, 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .offset(offset)
    .execute();
};

/** The entries of the chain with after < position ≤ to that match `filter`, in its order. */
export const listChainedBetween = (
  executor: Executor,
  filter: AuditFilter,
  after: number,
  to: number,
): Promise<AuditRow[]> =>
  executor
    .selectFrom('audits')
    .select(auditColumns)
    .where('position', '>', after)
    .where('position', '<=', to)
    .where(matches(filter))
    .orderBy('position')
    .execute();
