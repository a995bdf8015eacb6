import { z } from 'zod';
import { unprocessable } from '../../lib/errors.ts';
import { isObject } from '../../lib/objects.ts';
import {
  createIntegrationBody,
  integrationResource,
  type Observability,
  updateIntegrationBody,
} from '../../observability/index.ts';
import { required } from '../../resource/index.ts';
import { withoutEmptyMaps } from '../paths.ts';
import type { Item, Kind, Run } from './kind.ts';
import { resourceKind } from './resource-kind.ts';

interface Scopes {
  global: boolean;
  agents: string[];
}

const placeholder = 'a-secret-that-is-not-known-yet';

/** What an integration without a description is called. A url may have placeholders, so it is not parsed. */
const nameWithout = ({ provider, url }: { provider?: unknown; url?: unknown }): string =>
  `${provider} ${/^[a-z]+:\/\/([^/?#]*)/i.exec(String(url))?.[1] ?? ''}`.trim();

const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort((a, b) => (a < b ? -1 : 1));

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');

const readScopes = (given: unknown): Scopes => {
  if (given === undefined || given === null || given === 'global') return { global: true, agents: [] };
  if (isNames(given)) return { global: false, agents: sorted(given) };
  if (isObject(given) && Object.keys(given).every((key) => key === 'global' || key === 'agents')) {
    const { global = false, agents = [] } = given;
    if (typeof global === 'boolean' && isNames(agents)) return { global, agents: sorted(agents) };
  }
  const message = 'must be `global`, a list of names of agents, or {global: true, agents: [NAME]}';
  throw unprocessable([{ path: 'scopes', message }]);
};

const shownScopes = ({ global, agents }: Scopes): unknown => {
  if (!global) return agents;
  return agents.length === 0 ? 'global' : { global, agents };
};

export interface IntegrationKind extends Kind {
  /** Throws 422 if the address may not be reached. Without a transaction. */
  verify(item: Item): Promise<void>;
}

const { description, version, debug, is_system } = integrationResource.fields;
/** What an item has, in this order. Over the API a version can be cleared, but not left out. */
const fields = { description, version, debug, is_system, settings: required(z.unknown()) };
const body = createIntegrationBody.extend({ version: createIntegrationBody.shape.version.nullable() });

export const integrationKind = ({ rules }: Pick<Observability, 'rules'>): IntegrationKind => {
  const descriptionOf = ({ name, settings }: Item): string | null =>
    name === nameWithout(settings as Item) ? null : String(name);

  const addScopes = async (run: Run, id: string, { global, agents: names }: Scopes): Promise<void> => {
    if (global) await rules.addScope(run.tx, run.actor, id, null);
    for (const name of names) await rules.addScope(run.tx, run.actor, id, run.idOf('agent', name));
  };

  const kind = resourceKind({
    kind: 'integration',
    key: 'integrations',
    fields,
    body,
    patch: updateIntegrationBody,
    secrets: {
      'settings.api_token': placeholder,
      'settings.api_key': placeholder,
      'settings.password': placeholder,
      'settings.headers.*': placeholder,
      'settings.additional_headers.*': placeholder,
    },
    defaults: { is_system: false, settings: { is_enabled: true } },
    list: async (executor, names) =>
      (await rules.list(executor)).map(({ row, settings: { provider, url, ...rest }, scopes }) => {
        const name = row.description || nameWithout({ provider, url });
        const settings = withoutEmptyMaps({ provider, url, ...rest });
        return {
          id: row.id,
          name,
          values: { ...row, description: name, settings },
          more: {
            scopes: {
              global: scopes.some(({ agent_id }) => agent_id === null),
              agents: sorted(
                scopes.flatMap(({ agent_id }) => (agent_id ? (names('agent').get(agent_id) ?? []) : [])),
              ),
            },
          },
        };
      }),
    toDocument: ({ scopes, ...item }) => ({ ...item, scopes: shownScopes(scopes as Scopes) }),
    complete: (item, { settings: { provider, url, ...settings } }, found) => {
      if (found && found.item.is_system !== item.is_system) {
        const message = `cannot be changed; it is ${found.item.is_system}`;
        throw unprocessable([{ path: 'is_system', message }]);
      }
      return { ...item, settings: withoutEmptyMaps({ provider, url, is_enabled: true, ...settings }) };
    },
    create: (run, given, item) =>
      rules.create(run.tx, run.actor, { ...given, description: descriptionOf(item) }),
    update: (run, id, changes) => rules.update(run.tx, run.actor, id, changes),
    remove: async (run, { id }) => {
      await rules.delete(run.tx, run.actor, id);
      run.afterwards('integrations', rules.changed);
    },
  });
  return {
    ...kind,
    references: ({ scopes }) =>
      (scopes as Scopes).agents.map((name, i) => ({ path: `scopes[${i}]`, kind: 'agent', name, weak: true })),
    verify: async ({ settings }) => rules.checkAddress(body.shape.settings.parse(settings)),
    read: ({ scopes, ...given }, found) => {
      if (typeof given.name !== 'string' || given.name === '')
        throw unprocessable([{ path: 'name', message: 'is required' }]);
      return { ...kind.read(given, found), scopes: readScopes(scopes) };
    },
    create: async (run, item) => {
      const id = await kind.create(run, item);
      const scopes = item.scopes as Scopes;
      await addScopes(run, id, scopes);
      if (!scopes.global) await rules.removeScope(run.tx, run.actor, id, null);
      run.afterwards('integrations', rules.changed);
      return id;
    },
    update: async (run, found, item, changed) => {
      const { scopes: to, ...rest } = item as Item & { scopes: Scopes };
      const changedFields = new Set(changed);
      changedFields.delete('scopes');
      if (changedFields.size > 0) await kind.update(run, found, rest, changedFields);
      if (changed.has('scopes')) {
        const from = found.item.scopes as Scopes;
        await addScopes(run, found.id, to);
        if (from.global && !to.global) await rules.removeScope(run.tx, run.actor, found.id, null);
        for (const name of from.agents) {
          // The scope of an agent that was deleted is gone.
          if (to.agents.includes(name) || run.isDeleted('agent', name)) continue;
          await rules.removeScope(run.tx, run.actor, found.id, run.idOf('agent', name));
        }
      }
      run.afterwards('integrations', rules.changed);
    },
  };
};
