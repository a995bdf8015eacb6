import { unprocessable } from '../../lib/errors.ts';
import { isObject } from '../../lib/objects.ts';
import { createIntegrationBody, type Observability } from '../../observability/index.ts';
import { clean, withoutEmptyMaps } from '../paths.ts';
import type { Item, Kind, Run } from './kind.ts';
import { readBody } from './read.ts';

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

export const integrationKind = ({ rules }: Pick<Observability, 'rules'>): IntegrationKind => {
  const descriptionOf = ({ name, settings }: Item): string | undefined =>
    name === nameWithout(settings as Item) ? undefined : String(name);

  const addScopes = async (run: Run, id: string, { global, agents: names }: Scopes): Promise<void> => {
    if (global) await rules.addScope(run.tx, run.actor, id, null);
    for (const name of names) await rules.addScope(run.tx, run.actor, id, run.idOf('agent', name));
  };

  return {
    kind: 'integration',
    key: 'integrations',
    secrets: {
      'settings.api_token': placeholder,
      'settings.api_key': placeholder,
      'settings.password': placeholder,
      'settings.headers.*': placeholder,
      'settings.additional_headers.*': placeholder,
    },
    defaults: { is_system: false, settings: { is_enabled: true } },
    nameOf: ({ name }) => String(name),
    list: async (executor, names) => {
      const agents = names('agent');
      return (await rules.list(executor)).map(({ row, settings, scopes }) => {
        const { provider, url, ...rest } = settings;
        const name = row.description || nameWithout(settings);
        const item = {
          name,
          version: row.version,
          debug: row.debug,
          is_system: row.is_system,
          settings: withoutEmptyMaps(clean({ provider, url, ...rest }) as Item),
          scopes: {
            global: scopes.some(({ agent_id }) => agent_id === null),
            agents: sorted(scopes.flatMap(({ agent_id }) => (agent_id ? (agents.get(agent_id) ?? []) : []))),
          },
        };
        return { id: row.id, name, item };
      });
    },
    toDocument: ({ scopes, ...item }) => ({ ...item, scopes: shownScopes(scopes as Scopes) }),
    read: ({ scopes, ...given }, found) => {
      const { name, ...rest } = given;
      if (typeof name !== 'string' || name === '')
        throw unprocessable([{ path: 'name', message: 'is required' }]);
      // Over the API a version can be cleared, but not left out.
      const version = rest.version === null ? { version: 'none' } : {};
      const body = readBody(createIntegrationBody, { ...rest, ...version, name }, { name: 'description' });
      if (found && found.item.is_system !== body.is_system) {
        throw unprocessable([
          { path: 'is_system', message: `cannot be changed; it is ${found.item.is_system}` },
        ]);
      }
      const { provider, url, ...settings } = body.settings;
      return {
        name,
        version: rest.version === null ? null : body.version,
        debug: body.debug,
        is_system: body.is_system,
        settings: withoutEmptyMaps({ provider, url, is_enabled: true, ...settings }),
        scopes: readScopes(scopes),
      };
    },
    references: ({ scopes }) =>
      (scopes as Scopes).agents.map((name, i) => ({ path: `scopes[${i}]`, kind: 'agent', name, weak: true })),
    verify: ({ settings }) => rules.checkAddress(settings as never),
    create: async (run, item) => {
      const { version, debug, is_system, settings } = item as never;
      const description = descriptionOf(item);
      const { id } = await rules.create(run.tx, run.actor, {
        settings,
        version,
        description,
        is_system,
        debug,
      });
      const scopes = item.scopes as Scopes;
      await addScopes(run, id, scopes);
      if (!scopes.global) await rules.removeScope(run.tx, run.actor, id, null);
      run.afterwards('integrations', rules.changed);
      return id;
    },
    update: async (run, { id, item: before }, item, changed) => {
      const fields = ['version', 'debug', 'settings'].filter((field) => changed.has(field));
      if (fields.length > 0) {
        await rules.update(run.tx, run.actor, id, Object.fromEntries(fields.map((f) => [f, item[f]])));
      }
      if (changed.has('scopes')) {
        const [from, to] = [before.scopes as Scopes, item.scopes as Scopes];
        await addScopes(run, id, to);
        if (from.global && !to.global) await rules.removeScope(run.tx, run.actor, id, null);
        for (const name of from.agents) {
          // The scope of an agent that was deleted is gone.
          if (to.agents.includes(name) || run.isDeleted('agent', name)) continue;
          await rules.removeScope(run.tx, run.actor, id, run.idOf('agent', name));
        }
      }
      run.afterwards('integrations', rules.changed);
    },
    remove: async (run, { id }) => {
      await rules.delete(run.tx, run.actor, id);
      run.afterwards('integrations', rules.changed);
    },
  };
};
