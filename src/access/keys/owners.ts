import { type Executor, sql } from '../../database/index.ts';
import { isId } from '../../lib/ids.ts';

/**
 * Whose limits and rules the principals with these ids share, by their ids (`Principal.rootId`): the person to whom a key
 * belongs, else the service account. Of a key that was deleted the audit log still knows the person: whoever asked with it
 * would otherwise be someone else from then on. Unknown ids are their own.
 */
export const rootsOf = async (
  executor: Executor,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> => {
  const all = [...new Set(ids)];
  const { rows } = await sql<{ id: string; root: string }>`
    with asked as (select unnest(${all.filter(isId)}::uuid[]) as id),
    keys as (
      select distinct on (a.id) a.id, coalesce(k.owner_user_id, k.root_id, a.id) as root
      from asked a join api_keys k on coalesce(k.account_id, k.id) = a.id order by a.id, k.created_at)
    select id::text, root::text from keys
    union all
    select a.id::text, coalesce(e.details->'owner'->>'id', case when e.principal_kind = 'person' then e.principal_id end,
      a.id::text)
    from asked a join audits e on e.target_id = a.id::text and e.action = 'api_key.create'
    where a.id not in (select id from keys)`.execute(executor);
  const roots = new Map(rows.map(({ id, root }) => [id, root]));
  return new Map(all.map((id) => [id, roots.get(id) ?? id]));
};
