import type { Executor } from '../../database/index.ts';
import { systemActor } from '../../lib/principal.ts';
import { bootstrap } from '../authenticator.ts';
import { listPrincipalNames } from './store.ts';

/** Those who act without being a person or a key. */
const ownNames = [systemActor.principal, bootstrap].map(({ id, name }) => [id, name] as const);

/** The names of those of `ids` that are known, by their ids: people, keys, and the platform itself. */
export const principalNames = async (
  executor: Executor,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> => {
  const found = await listPrincipalNames(executor, [...new Set(ids)]);
  return new Map([...ownNames, ...found.map(({ id, name }) => [id, name] as const)]);
};
