import { findFacets, type listAudits, toAuditEntry } from '../../audit/index.ts';
import type { Executor } from '../../database/index.ts';
import type { Principal } from '../../lib/principal.ts';
import { search } from '../search/search.ts';
import { listTargets } from './store.ts';

type Match = NonNullable<Parameters<typeof listAudits>[1]['any']>;

const mostPrincipals = 100;

/**
 * Returns the filter for `q`: a part of an action, of the name of who did it or of what it was done to, or one of their
 * ids or that of the request. Deleted things are found by their ids only: the log has no names of them.
 */
export const matchOf = async (executor: Executor, q: string, principal: Principal): Promise<Match> => {
  const text = q.toLowerCase();
  const has = (value: string) => value.toLowerCase().includes(text);
  const { actions, principals } = await findFacets(executor);
  const found = await search(executor, q, principal);
  return {
    actions: actions.filter(has),
    principals: principals
      .filter(({ id, name }) => id === q || has(name))
      .map(({ id }) => id)
      .slice(0, mostPrincipals),
    targets: [...new Set([q, text, ...found.map(({ id }) => id)])],
    requests: [q],
  };
};

/** The entries with what they were done to, as far as it still exists. */
export const toEntries = async (executor: Executor, rows: readonly Parameters<typeof toAuditEntry>[0][]) => {
  const targets = await listTargets(
    executor,
    rows.flatMap(({ target_type: type, target_id: id }) => (id === null ? [] : [{ type, id }])),
  );
  const known = new Map(targets.map((target) => [`${target.type} ${target.id}`, target]));
  return rows.map((row) => {
    const target = known.get(`${row.target_type} ${row.target_id}`);
    return { ...toAuditEntry(row), target: target ? { name: target.name, agent_id: target.agent_id } : null };
  });
};
