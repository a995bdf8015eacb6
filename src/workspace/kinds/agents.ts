import {
  type Agents,
  agentFields,
  checkWorkerFields,
  createAgentBody,
  defaultApprovalRole,
  updateAgentBody,
} from '../../agents/index.ts';
import { type CallbackStore, defaultEvents } from '../../callbacks/index.ts';
import { unprocessable } from '../../lib/errors.ts';
import { isObject } from '../../lib/objects.ts';
import { defaultsOf } from '../../resource/index.ts';
import type { Found, Kind } from './kind.ts';
import { resourceKind } from './resource-kind.ts';

interface CallbackItem {
  url: string;
  events: string[];
  headers: Record<string, string>;
  secret?: string;
}

/** The callback that the agent has at the place of the `i`th of `given`: the same url, and the same one among those. */
const storedCallback = (found: Found | undefined, given: unknown, i: number): CallbackItem | undefined => {
  if (!found || !Array.isArray(given)) return undefined;
  const urlOf = (one: unknown) => (isObject(one) ? one.url : undefined);
  const url = urlOf(given[i]);
  const before = given.slice(0, i).filter((one) => urlOf(one) === url).length;
  return (found.item.callbacks as CallbackItem[]).filter((one) => one.url === url)[before];
};

/** An agent without a model of its own says so. */
const { llm: _, ...defaults } = defaultsOf(agentFields);

/** Agents, without their schedules, which are a kind of their own. */
export const agentKind = ({ rules }: Agents, callbacks: CallbackStore): Kind =>
  resourceKind({
    kind: 'agent',
    key: 'agents',
    fields: agentFields,
    body: createAgentBody,
    patch: updateAgentBody,
    defaults,
    secrets: {
      'callbacks.*.secret': `whsec_${Buffer.alloc(32).toString('base64')}`,
      'callbacks.*.headers.*': 'a-secret-that-is-not-known-yet',
    },
    list: async (executor) => {
      const found = [];
      for (const agent of await rules.list(executor)) {
        const secrets = await callbacks.settingsOf(executor, agent.callbacks);
        const shown = agent.callbacks.map(({ url, events }, i) => ({ url, events, ...secrets[i]! }));
        found.push({ id: agent.id, name: agent.name, values: { ...agent, callbacks: shown } });
      }
      return found;
    },
    toDocument: ({ approval_role, ...item }) =>
      approval_role === defaultApprovalRole[item.mode as 'worker'] ? item : { ...item, approval_role },
    complete: (item, body, found) => {
      checkWorkerFields(body.mode, body);
      if (found && found.item.mode !== body.mode) {
        const message = `cannot be changed; this agent's is ${found.item.mode}`;
        throw unprocessable([{ path: 'mode', message }]);
      }
      return {
        ...item,
        approval_role: body.approval_role ?? defaultApprovalRole[body.mode],
        callbacks: body.callbacks.map(({ url, events = defaultEvents, headers = {}, secret }, i) => ({
          url,
          events,
          headers,
          // Left out, the one that was generated stays.
          secret: secret ?? storedCallback(found, body.callbacks, i)?.secret,
        })),
      };
    },
    storedSecret: (found, given, [_, i, ...rest]) => {
      const stored = storedCallback(found, given.callbacks, Number(i));
      if (rest[0] === 'secret') return stored?.secret;
      return stored && Object.hasOwn(stored.headers, String(rest[1]))
        ? stored.headers[String(rest[1])]
        : undefined;
    },
    create: ({ tx, actor }, body) => rules.create(tx, actor, body),
    update: ({ tx, actor }, id, changes) => rules.update(tx, actor, id, changes),
    remove: ({ tx, actor }, { id }) => rules.delete(tx, actor, id),
  });
