import { type Agents, agentForm, defaultApprovalRole } from '../../agents/index.ts';
import { defaultEvents } from '../../callbacks/index.ts';
import { isObject, withoutNull } from '../../lib/objects.ts';
import { defaultsOf } from '../../resource/index.ts';
import type { Found, Item, Kind } from '../kind.ts';
import { valueAt } from '../paths.ts';
import { byFeature, resourceKind } from '../resource-kind.ts';

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
const { llm: _, ...defaults } = defaultsOf(agentForm.fields);

/** A gate without the fields that are null, those of its graders among them. */
const gateDocument = ({ graders, ...gate }: Item): Item => ({
  ...gate,
  ...(Array.isArray(graders) ? { graders: graders.map((grader: object) => withoutNull(grader)) } : {}),
});

/** Agents, without their schedules, which are a kind of their own. */
export const agentKind = (agents: Agents): Kind =>
  resourceKind({
    ...byFeature(agents),
    ...agentForm,
    kind: 'agent',
    key: 'agents',
    defaults,
    // Left out, they stay: a document that knows no releases changes none.
    prepare: (given, found) => ({
      release: found?.item.release ?? 'automatic',
      gate: found?.item.gate ?? null,
      ...given,
    }),
    toDocument: ({ approval_role, gate, ...rest }) => {
      const item = isObject(gate) ? { ...rest, gate: gateDocument(gate) } : rest;
      return approval_role === defaultApprovalRole[item.mode as 'worker'] ? item : { ...item, approval_role };
    },
    complete: (item, body, found) => ({
      ...item,
      approval_role: body.approval_role ?? defaultApprovalRole[body.mode],
      callbacks: body.callbacks.map(({ url, events = defaultEvents, headers = {}, secret }, i) => ({
        url,
        events,
        headers,
        // Left out, the one that was generated stays.
        secret: secret ?? storedCallback(found, body.callbacks, i)?.secret,
      })),
    }),
    storedSecret: (found, given, [_, i, field, header]) => {
      const stored = storedCallback(found, given.callbacks, Number(i));
      return field === 'secret' ? stored?.secret : valueAt(stored?.headers, [String(header)]);
    },
  });
