import type { Executor } from '../../database/index.ts';
import { mayCall, type Principal, type Role, type Scope } from '../../lib/principal.ts';
import { settingDefinitions } from '../../settings/index.ts';
import { findKeys, findThings, findWorkItems, type Hit } from './store.ts';

export const kinds = [
  'agent',
  'schedule',
  'work_item',
  'integration',
  'llm_configuration',
  'tool_server',
  'data_connection',
  'semantic_data_model',
  'channel',
  'alert_rule',
  'api_key',
  'setting',
] as const;
type Kind = (typeof kinds)[number];

const mostSettings = 5;

/** The settings whose names have the text, with spaces or underscores; then those whose descriptions have it. */
const findSettings = (q: string): Hit[] => {
  const text = q.toLowerCase();
  const all = Object.entries(settingDefinitions).map(([id, [, , detail]]) => ({
    id,
    title: id,
    detail,
    agent_id: null,
  }));
  const named = all.filter(({ id }) => id.toLowerCase().includes(text.replaceAll(' ', '_')));
  const described = all.filter((one) => !named.includes(one) && one.detail.toLowerCase().includes(text));
  return [...named, ...described].slice(0, mostSettings);
};

interface Finder {
  /** Role that the operation that lists the kind requires. */
  role: Role;
  scope: Scope;
  /** Finds the hits; default: by the name or the id. */
  find?(executor: Executor, q: string, principal: Principal): Promise<Hit[]> | Hit[];
}

const finders: Record<Kind, Finder> = {
  agent: { role: 'member', scope: 'agents:read' },
  schedule: { role: 'member', scope: 'schedules:read' },
  work_item: { role: 'member', scope: 'work_items:read', find: findWorkItems },
  integration: { role: 'admin', scope: 'observability:read' },
  llm_configuration: { role: 'builder', scope: 'llm:read' },
  tool_server: { role: 'builder', scope: 'agents:read' },
  data_connection: { role: 'builder', scope: 'data:read' },
  semantic_data_model: { role: 'builder', scope: 'data:read' },
  channel: { role: 'builder', scope: 'alerts:read' },
  alert_rule: { role: 'builder', scope: 'alerts:read' },
  api_key: {
    role: 'member',
    scope: 'access:read',
    find: (executor, q, { role, id }) => findKeys(executor, q, role === 'admin' ? null : id),
  },
  setting: { role: 'admin', scope: 'settings:read', find: (_, q) => findSettings(q) },
};

/** Returns the hits of `q` of each kind that the principal may read, at most 5 of each. */
export const search = async (
  executor: Executor,
  q: string,
  principal: Principal,
): Promise<(Hit & { kind: Kind })[]> => {
  const found: (Hit & { kind: Kind })[] = [];
  for (const kind of kinds) {
    const { role, scope, find } = finders[kind];
    if (!mayCall(principal, role, scope)) continue;
    const hits = find ? await find(executor, q, principal) : await findThings(executor, kind, q);
    for (const hit of hits) found.push({ kind, ...hit });
  }
  return found;
};
