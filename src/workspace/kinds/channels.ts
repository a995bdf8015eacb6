import { z } from 'zod';
import { addressees } from '../../access/index.ts';
import {
  type Channels,
  channelForm,
  type RouteFields,
  type RouteRecipients,
  routeBody,
} from '../../channels/index.ts';
import type { Executor } from '../../database/index.ts';
import { jsonObject, optional, text } from '../../http/index.ts';
import { asciiLower } from '../../lib/email.ts';
import { unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { isObject } from '../../lib/objects.ts';
import { roles } from '../../lib/principal.ts';
import { nullable, required, withDefault } from '../../resource/index.ts';
import { asRead, readBody } from '../bodies.ts';
import type { Item, Kind, KindName, Run } from '../kind.ts';
import { byFeature, resourceKind } from '../resource-kind.ts';

export const channelKind = (channels: Channels['changes']): Kind =>
  resourceKind({
    ...byFeature(channels.channels),
    ...channelForm,
    kind: 'channel',
    key: 'channels',
    defaults: { enabled: true },
    list: async (executor) =>
      (await channels.channels.list(executor)).map(({ id, ...stored }) => ({
        id,
        values: asRead(channelForm.body, stored),
      })),
    complete: (item, body) => ({ ...item, ...body }),
    // The address of a workflow of Teams has its key in it; those of other kinds are in every response.
    isPlain: ({ kind }, path) => path[0] === 'url' && kind !== 'teams',
    // A secret that a document leaves out stays as it is.
    prepare: (given, found) =>
      given.kind === 'webhook' && given.secret === undefined && found?.item.secret !== undefined
        ? { ...given, secret: found.item.secret }
        : given,
  });

const fields = {
  name: required(text(200, 1)),
  for: required(z.string()).fixed(),
  enabled: withDefault(z.boolean(), true),
  position: withDefault(z.int(), 100),
  match: withDefault(jsonObject, {} as Record<string, unknown>),
  steps: required(z.array(jsonObject)),
  decide_role: nullable(z.enum(roles)),
};
const body = z.object({
  name: fields.name.create,
  for: z.string(),
  enabled: fields.enabled.create,
  position: fields.position.create,
  match: optional(jsonObject, {} as Record<string, unknown>),
  steps: z.array(jsonObject),
  decide_role: fields.decide_role.create,
});

/** What names in a document become. `userOf` gets an e-mail. */
interface Ids {
  idOf(kind: KindName, name: string): string;
  userOf(email: string, path: string): string;
}

/** The body of the API: names become ids, and e-mails of people too. Throws 422 for what it refuses. */
const definitionOf = ({ match, steps, ...item }: Item, { idOf, userOf }: Ids): RouteFields => {
  const { agents, ...others } = (match ?? {}) as Item;
  return readBody(routeBody, {
    ...item,
    match: {
      ...others,
      ...(Array.isArray(agents) && { agent_ids: agents.map((name) => idOf('agent', String(name))) }),
    },
    steps: (steps as Item[]).map(({ channel, to, ...step }, i) => ({
      ...step,
      ...(typeof channel === 'string' && { channel_id: idOf('channel', channel) }),
      to:
        isObject(to) && Array.isArray(to.users)
          ? { user_ids: to.users.map((email, k) => userOf(String(email), `steps[${i}].to.users[${k}]`)) }
          : to,
    })),
  });
};

/** The fields of a document for those of a route. */
const itemOf = (
  { match, steps, ...route }: Pick<RouteFields, 'match' | 'steps'> & Item,
  nameOf: (kind: KindName, id: string) => string,
  emailOf: (id: string) => string,
): Item => {
  const { agent_ids: agents, ...others } = match;
  const recipientsOf = (to: RouteRecipients): unknown =>
    typeof to === 'object' && 'user_ids' in to ? { users: to.user_ids.map(emailOf) } : to;
  return {
    ...route,
    match: { ...others, ...(agents && { agents: agents.map((id) => nameOf('agent', id)) }) },
    steps: steps.map(({ channel_id, to, after_minutes }) => ({
      channel: nameOf('channel', channel_id),
      to: recipientsOf(to),
      ...(after_minutes > 0 && { after_minutes }),
    })),
  };
};

const usersIn = (steps: unknown): string[] =>
  (steps as Item[]).flatMap(({ to }) =>
    isObject(to) && Array.isArray(to.users) ? to.users.map((email) => asciiLower(String(email))) : [],
  );

/** Routes: channels and agents by name, people by e-mail. */
export const routeKind = (channels: Channels['changes']): Kind => {
  const { list, create, update, delete: remove } = channels.routes;
  /** What the names of an item are, without asking the database. */
  const placeholders = () => {
    const named = new Map<string, string>();
    const idOf = (name: string) => {
      const id = newId();
      named.set(id, name);
      return id;
    };
    return { named, ids: { idOf: (_kind: KindName, name: string) => idOf(name), userOf: idOf } };
  };
  const inRun = async (run: Run, item: Item): Promise<RouteFields> => {
    const users = await addressees.listIdsByEmail(run.tx, usersIn(item.steps));
    return definitionOf(item, {
      idOf: (kind, name) => run.idOf(kind, name),
      userOf: (email, path) => {
        const id = users.get(asciiLower(email));
        if (id === undefined) throw unprocessable([{ path, message: 'is the e-mail of no user' }]);
        return id;
      },
    });
  };
  return resourceKind({
    kind: 'route',
    key: 'routes',
    fields,
    body,
    list: async (executor: Executor, names) => {
      const routes = await list(executor);
      const ids = routes.flatMap(({ steps }) =>
        steps.flatMap(({ to }) => (typeof to === 'object' && 'user_ids' in to ? to.user_ids : [])),
      );
      const people = await addressees.listEmails(executor, ids);
      const nameOf = (kind: KindName, id: string) => names(kind).get(id) ?? id;
      return routes.map(({ id, ...route }) => ({
        id,
        values: itemOf(route, nameOf, (user) => people.get(user) ?? user),
      }));
    },
    // With the defaults of the API, which are what is stored.
    complete: (item) => {
      const { named, ids } = placeholders();
      const known = (id: string) => named.get(id) ?? id;
      return itemOf({ ...definitionOf(item, ids) }, (_kind, id) => known(id), known);
    },
    references: ({ match, steps }) => [
      ...(((match as Item | undefined)?.agents ?? []) as string[]).map((name, i) => ({
        path: `match.agents[${i}]`,
        kind: 'agent' as const,
        name,
        weak: true,
      })),
      ...(steps as { channel: string }[]).map(({ channel }, i) => ({
        path: `steps[${i}].channel`,
        kind: 'channel' as const,
        name: channel,
      })),
    ],
    create: async (run, _values, item) => create(run.tx, run.actor, await inRun(run, item), run.leaving()),
    update: async (run, id, _values, item, changed) => {
      const { for: _, ...whole } = await inRun(run, item);
      const own = Object.fromEntries(Object.entries(whole).filter(([name]) => changed.has(name)));
      return update(run.tx, run.actor, id, own);
    },
    remove: ({ tx, actor }, { id }) => remove(tx, actor, id),
  });
};
