import { unprocessable } from '../../lib/errors.ts';
import { isObject } from '../../lib/objects.ts';
import { integrationForm, type Observability } from '../../observability/index.ts';
import type { Item, Kind } from '../kind.ts';
import { byFeature, resourceKind } from '../resource-kind.ts';

interface Scopes {
  global: boolean;
  agents: string[];
}
/** Ids of agents; null is the global scope. */
type Ids = readonly (string | null)[];

/** The name of an integration without a description. A url may have placeholders, so it is not parsed. */
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

export const integrationKind = (observability: Observability): Kind =>
  resourceKind({
    ...byFeature(observability),
    ...integrationForm,
    kind: 'integration',
    key: 'integrations',
    toDocument: ({ scopes, ...item }) => ({ ...item, scopes: shownScopes(scopes as Scopes) }),
    complete: ({ name, ...item }, { settings: { provider, url, is_enabled = true, ...settings } }) => ({
      name: name || nameWithout({ provider, url }),
      ...item,
      settings: { provider, url, ...settings, is_enabled },
    }),
    references: ({ scopes }) =>
      (scopes as Scopes).agents.map((name, i) => ({ path: `scopes[${i}]`, kind: 'agent', name, weak: true })),
    verify: ({ settings }) => observability.checkAddress(integrationForm.body.shape.settings.parse(settings)),
    create: ({ tx, actor }, given, { name, settings }) => {
      const isDefault = name === nameWithout(settings as Item);
      return observability.create(tx, actor, isDefault ? { ...given, description: null } : given);
    },
    part: {
      name: 'scopes',
      read: readScopes,
      fromStored: (ids, names) => ({
        global: (ids as Ids).includes(null),
        agents: sorted((ids as Ids).flatMap((id) => (id && names('agent').get(id)) || [])),
      }),
      write: async (run, id, scopes) => {
        const { global, agents } = scopes as Scopes;
        const ids = agents.map((name) => run.idOf('agent', name));
        await observability.setScopes(run.tx, run.actor, id, global ? [null, ...ids] : ids);
      },
    },
    afterwards: (run) => run.afterwards('integrations', observability.changed),
  });
