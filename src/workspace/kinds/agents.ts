import {
  type Agents,
  checkWorkerFields,
  createAgentBody,
  defaultAgentSettings,
  defaultApprovalRole,
} from '../../agents/index.ts';
import { type CallbackStore, defaultEvents } from '../../callbacks/index.ts';
import { unprocessable } from '../../lib/errors.ts';
import { isObject } from '../../lib/objects.ts';
import { clean } from '../paths.ts';
import type { Found, Item, Kind, Reference, Run } from './kind.ts';
import { faultsIn, readBody } from './read.ts';

/** The fields of a document that are called otherwise over the API, where ids stand for names. */
const renamed = {
  llm: 'llm_id',
  fallback_llms: 'fallback_llm_ids',
  tool_servers: 'tool_server_ids',
  semantic_data_models: 'semantic_data_model_ids',
};

interface ToolPolicyItem {
  tool_server: string;
  tool: string;
  policy: string;
}

interface CallbackItem {
  url: string;
  events: string[];
  headers: Record<string, string>;
  secret?: string;
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort(byText);
const sortedPolicies = (policies: readonly ToolPolicyItem[]): ToolPolicyItem[] =>
  [...policies].sort((a, b) => byText(a.tool_server, b.tool_server) || byText(a.tool, b.tool));

/** The callback that the agent has at the place of the `i`th of `given`: the same url, and the same one among those. */
const storedCallback = (found: Found | undefined, given: unknown, i: number): CallbackItem | undefined => {
  if (!found || !Array.isArray(given)) return undefined;
  const urlOf = (one: unknown) => (isObject(one) ? one.url : undefined);
  const url = urlOf(given[i]);
  const before = given.slice(0, i).filter((one) => urlOf(one) === url).length;
  return (found.item.callbacks as CallbackItem[]).filter((one) => one.url === url)[before];
};

/** Tool policies by the schema of the API, in which names are ids. */
const withIds = (policies: unknown): unknown =>
  Array.isArray(policies)
    ? policies.map((policy) => {
        if (!isObject(policy)) return policy;
        const { tool_server: tool_server_id, ...rest } = policy;
        return { ...rest, tool_server_id };
      })
    : policies;

const readAgent = (given: Item, found: Found | undefined): Item => {
  const { tool_policies, ...rest } = given;
  let body: ReturnType<typeof createAgentBody.parse> | undefined;
  const faults = faultsIn(() => {
    const policies = tool_policies === undefined ? {} : { tool_policies: withIds(tool_policies) };
    body = readBody(createAgentBody, { ...rest, ...policies }, renamed);
    checkWorkerFields(body.mode, body);
  });
  if (faults.length > 0 || !body) {
    throw unprocessable(
      faults.map((one) => ({ ...one, path: one.path.replace('tool_server_id', 'tool_server') })),
    );
  }
  if (found && found.item.mode !== body.mode) {
    throw unprocessable([{ path: 'mode', message: `cannot be changed; this agent's is ${found.item.mode}` }]);
  }
  const given_settings = Object.entries(body.settings).filter(([, value]) => value != null);
  return clean({
    name: body.name,
    description: body.description,
    mode: body.mode,
    instructions: body.instructions,
    llm: body.llm_id,
    model: body.model,
    fallback_llms: body.fallback_llm_ids,
    tool_servers: sorted(body.tool_server_ids),
    // The schema of the API has them in small letters, as ids are.
    tool_policies: sortedPolicies((tool_policies ?? []) as ToolPolicyItem[]),
    semantic_data_models: sorted(body.semantic_data_model_ids),
    execution: body.execution,
    result_schema: body.result_schema,
    approval_role: body.approval_role ?? defaultApprovalRole[body.mode],
    callbacks: body.callbacks.map(({ url, events = defaultEvents, headers = {}, secret }, i) => ({
      url,
      events,
      headers,
      // Left out, the one that was generated stays.
      secret: secret ?? storedCallback(found, rest.callbacks, i)?.secret,
    })),
    settings: { ...defaultAgentSettings, ...Object.fromEntries(given_settings) },
  }) as Item;
};

const referencesOf = (item: Item): Reference[] => {
  const llms = item.fallback_llms as string[];
  const list = (field: string, kind: Reference['kind'], names: readonly string[]) =>
    names.map((name, i): Reference => ({ path: `${field}[${i}]`, kind, name }));
  return [
    ...(item.llm == null
      ? []
      : [{ path: 'llm', kind: 'llm_configuration' as const, name: String(item.llm) }]),
    ...list('fallback_llms', 'llm_configuration', llms),
    ...list('tool_servers', 'tool_server', item.tool_servers as string[]),
    ...(item.tool_policies as ToolPolicyItem[]).map(
      ({ tool_server }, i): Reference => ({
        path: `tool_policies[${i}].tool_server`,
        kind: 'tool_server',
        name: tool_server,
      }),
    ),
    ...list('semantic_data_models', 'semantic_data_model', item.semantic_data_models as string[]),
  ];
};

/** The fields of an item as the API has them, with ids for names. */
const bodyOf = (run: Run, item: Item): Item => {
  const ids = (kind: Reference['kind'], names: unknown) =>
    (names as string[]).map((name) => run.idOf(kind, name));
  const { llm, fallback_llms, tool_servers, tool_policies, semantic_data_models, ...fields } = item;
  return {
    ...fields,
    llm_id: llm == null ? null : run.idOf('llm_configuration', String(llm)),
    fallback_llm_ids: ids('llm_configuration', fallback_llms),
    tool_server_ids: ids('tool_server', tool_servers),
    tool_policies: (tool_policies as ToolPolicyItem[]).map(({ tool_server, tool, policy }) => ({
      tool_server_id: run.idOf('tool_server', tool_server),
      tool,
      policy,
    })),
    semantic_data_model_ids: ids('semantic_data_model', semantic_data_models),
  };
};

const bodyField: Record<string, string> = renamed;

/** Agents, without their schedules, which are a kind of their own. */
export const agentKind = ({ rules }: Agents, callbacks: CallbackStore): Kind => ({
  kind: 'agent',
  key: 'agents',
  secrets: {
    'callbacks.*.secret': `whsec_${Buffer.alloc(32).toString('base64')}`,
    'callbacks.*.headers.*': 'a-secret-that-is-not-known-yet',
  },
  defaults: {
    description: null,
    instructions: '',
    model: null,
    fallback_llms: [],
    tool_servers: [],
    tool_policies: [],
    semantic_data_models: [],
    execution: 'platform',
    result_schema: null,
    callbacks: [],
    settings: defaultAgentSettings as unknown as Item,
  },
  nameOf: ({ name }) => String(name),
  list: async (executor, names) => {
    const [llms, servers, models] = (
      ['llm_configuration', 'tool_server', 'semantic_data_model'] as const
    ).map(names);
    const nameOf = new Map([...llms!, ...servers!, ...models!]);
    const named = (ids: readonly string[]) => ids.map((id) => nameOf.get(id) ?? id);
    const found: Found[] = [];
    for (const agent of await rules.list(executor)) {
      const secrets = await callbacks.settingsOf(executor, agent.callbacks);
      const { name, description, mode, instructions, llm_id, model, execution, result_schema } = agent;
      found.push({
        id: agent.id,
        name,
        item: {
          name,
          description,
          mode,
          instructions,
          llm: llm_id === null ? null : named([llm_id])[0],
          model,
          fallback_llms: named(agent.fallback_llm_ids),
          tool_servers: sorted(named(agent.tool_server_ids)),
          tool_policies: sortedPolicies(
            agent.tool_policies.map(({ tool_server_id, tool, policy }) => ({
              tool_server: named([tool_server_id])[0]!,
              tool,
              policy,
            })),
          ),
          semantic_data_models: sorted(named(agent.semantic_data_model_ids)),
          execution,
          result_schema,
          approval_role: agent.approval_role,
          callbacks: agent.callbacks.map(({ url, events }, i) => ({ url, events, ...secrets[i]! })),
          settings: agent.settings as unknown as Item,
        },
      });
    }
    return found;
  },
  toDocument: ({ approval_role, ...item }) =>
    approval_role === defaultApprovalRole[item.mode as 'worker'] ? item : { ...item, approval_role },
  read: readAgent,
  storedSecret: (found, given, [_, i, ...rest]) => {
    const stored = storedCallback(found, given.callbacks, Number(i));
    if (rest[0] === 'secret') return stored?.secret;
    return stored && Object.hasOwn(stored.headers, String(rest[1]))
      ? stored.headers[String(rest[1])]
      : undefined;
  },
  references: referencesOf,
  create: async (run, item) => (await rules.create(run.tx, run.actor, bodyOf(run, item) as never)).id,
  update: async (run, found, item, changed) => {
    const body = bodyOf(run, item);
    const changes = Object.fromEntries(
      [...changed].map((field) => bodyField[field] ?? field).map((field) => [field, body[field]]),
    );
    await rules.update(run.tx, run.actor, found.id, changes);
  },
  remove: ({ tx, actor }, { id }) => rules.delete(tx, actor, id),
});
