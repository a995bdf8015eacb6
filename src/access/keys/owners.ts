import { type Executor, sql } from '../../database/index.ts';
import { isId } from '../../lib/ids.ts';
import { systemActor } from '../../lib/principal.ts';
import { bootstrap } from '../authenticator.ts';

/** Who is behind no one else. */
const ownIds = [systemActor.principal.id, bootstrap.id];

/** More keys that make keys are no one's script. */
const maxMakers = 100;

/**
 * To whom these principals belong, by their ids: the person of a key, or who made it and the keys before it; else the first
 * key of the chain. Two principals of one owner are one for rules that ask for two people. Unknown ids are their own.
 */
export const ownersOf = async (
  executor: Executor,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> => {
  const all = [...new Set(ids)];
  const { rows } = await sql<{ id: string; owner: string }>`with recursive chain as (
      select coalesce(account_id, id)::text as id, coalesce(account_id, id)::text as key,
        coalesce(user_id::text, created_by) as maker, 0 as n
      from api_keys where coalesce(account_id, id) = any(${all.filter(isId)}::uuid[])
      union all
      select c.id, coalesce(k.account_id, k.id)::text, coalesce(k.user_id::text, k.created_by), c.n + 1
      from chain c join api_keys k on coalesce(k.account_id, k.id)::text = c.maker
      where c.n < ${maxMakers}::int and c.maker <> c.key
    )
    select distinct on (id) id, case when maker = any(${ownIds}::text[]) then key else maker end as owner
    from chain order by id, n desc`.execute(executor);
  const owners = new Map(rows.map(({ id, owner }) => [id, owner]));
  return new Map(all.map((id) => [id, owners.get(id) ?? id]));
};
