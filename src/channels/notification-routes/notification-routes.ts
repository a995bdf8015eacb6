import { z } from 'zod';
import { addressees } from '../../access/index.ts';
import { agentCalls } from '../../agents/index.ts';
import { audit } from '../../audit/index.ts';
import { advisoryLock, type Tx } from '../../database/index.ts';
import { validate } from '../../http/index.ts';
import { type Fault, notFound, unprocessable } from '../../lib/errors.ts';
import { isId, newId } from '../../lib/ids.ts';
import { withoutUndefined } from '../../lib/objects.ts';
import type { Actor } from '../../lib/principal.ts';
import { readSettings } from '../../settings/index.ts';
import type { ChannelSettings, ChannelSettingsStore } from '../settings.ts';
import { lockChannelsForShare } from '../store.ts';
import { matchOf, type RouteChanges, type RouteFields, type RoutePurpose, type Step } from './schemas.ts';
import {
  countRoutes,
  deleteRouteRow,
  findLockedRoute,
  insertRoute,
  type RouteRow,
  updateRouteRow,
} from './store.ts';

/** Kinds whose messages can be for one person. */
const personal: readonly ChannelSettings['kind'][] = ['slack', 'email'];

/** Returns what is wrong with a step whose channel has these settings; null if nothing is. */
const stepFault = (
  purpose: RoutePurpose,
  { to }: Step,
  settings: ChannelSettings,
): { field: 'channel_id' | 'to'; message: string } | null => {
  if (settings.kind === 'pagerduty' && purpose === 'reviews') {
    return { field: 'channel_id', message: 'is a channel of PagerDuty, which gets alerts only' };
  }
  if (to !== 'channel') {
    if (personal.includes(settings.kind)) return null;
    return {
      field: 'to',
      message: `must be "channel": channels of the kind ${settings.kind} have no people`,
    };
  }
  if (settings.kind === 'slack' && settings.conversation === undefined) {
    return { field: 'to', message: 'cannot be "channel", because the channel has no `conversation`' };
  }
  if (settings.kind === 'email' && settings.recipients.length === 0) {
    return { field: 'to', message: 'cannot be "channel", because the channel has no `recipients`' };
  }
  return null;
};

/** Locks the channels of the steps, so that none is deleted. Throws 422 for steps that could never be sent. */
const checkSteps = async (
  tx: Tx,
  store: ChannelSettingsStore,
  purpose: RoutePurpose,
  steps: readonly Step[],
): Promise<void> => {
  const ids = [...new Set(steps.map(({ channel_id }) => channel_id.toLowerCase()).filter(isId))];
  const rows = new Map((await lockChannelsForShare(tx, ids)).map((row) => [row.id, row]));
  const userIds = steps.flatMap(({ to }) => (typeof to === 'object' && 'user_ids' in to ? to.user_ids : []));
  const known = new Set((await addressees.listByIds(tx, userIds.filter(isId))).map(({ id }) => id));
  const faults = steps.flatMap((step, i): Fault[] => {
    const row = rows.get(step.channel_id.toLowerCase());
    if (!row) return [{ path: `steps[${i}].channel_id`, message: 'is not a channel' }];
    const fault = stepFault(purpose, step, store.open(row));
    if (fault) return [{ path: `steps[${i}].${fault.field}`, message: fault.message }];
    const people = typeof step.to === 'object' && 'user_ids' in step.to ? step.to.user_ids : [];
    return people.flatMap((id, k) =>
      known.has(id) ? [] : [{ path: `steps[${i}].to.user_ids[${k}]`, message: 'is not a user' }],
    );
  });
  if (faults.length > 0) throw unprocessable(faults);
};

/** Throws 422 for agents that do not exist. */
const checkMatch = async (
  tx: Tx,
  { agent_ids: ids = [] }: { agent_ids?: string[] | undefined },
): Promise<void> => {
  if (ids.length === 0) return;
  const known = await agentCalls.findNames(tx, ids.filter(isId));
  const faults = ids.flatMap((id, i): Fault[] =>
    known.has(id) ? [] : [{ path: `match.agent_ids[${i}]`, message: 'is not an agent' }],
  );
  if (faults.length > 0) throw unprocessable(faults);
};

const normalized = (steps: readonly Step[]): Step[] =>
  steps.map((step) => ({ ...step, channel_id: step.channel_id.toLowerCase() }));

/** Creates a route. Throws 422 with `setting` if there are as many as there may be. */
export const createRoute = async (
  tx: Tx,
  actor: Actor,
  store: ChannelSettingsStore,
  { match, steps: given, ...fields }: RouteFields,
  leaving = 0,
): Promise<RouteRow> => {
  const steps = normalized(given);
  await advisoryLock(tx, 'routes');
  const { MAX_ROUTES: max } = await readSettings(tx);
  if ((await countRoutes(tx)) - leaving >= max) {
    throw unprocessable(
      [{ path: 'name', message: `is one too many: there are ${max} routes, the maximum` }],
      {
        setting: 'MAX_ROUTES',
      },
    );
  }
  await checkMatch(tx, match);
  await checkSteps(tx, store, fields.for, steps);
  const id = newId();
  const row = await insertRoute(tx, {
    id,
    ...fields,
    match: withoutUndefined(match),
    steps,
    created_by: actor.principal.id,
  });
  await audit(tx, actor, 'route.create', id, { ...fields, match: row.match, steps });
  return row;
};

/** Returns the row, locked until the transaction ends. Throws 404 if there is none. */
export const lockRoute = async (tx: Tx, id: string): Promise<RouteRow> => {
  const row = await findLockedRoute(tx, id);
  if (!row) throw notFound('route');
  return row;
};

/** Returns the changes of a body. Throws 422 for those that the purpose of the route does not allow. */
export const checkedChanges = (before: RouteRow, { match, ...changes }: RouteChanges) => {
  const faults: Fault[] = [];
  if (changes.for !== undefined && changes.for !== before.for) {
    faults.push({ path: 'for', message: `cannot be changed; it is ${before.for}` });
  }
  if (before.for === 'alerts' && changes.decide_role != null) {
    faults.push({ path: 'decide_role', message: 'is for routes of reviews' });
  }
  if (faults.length > 0) throw unprocessable(faults);
  const schema: z.ZodType<RouteRow['match']> = matchOf[before.for];
  const given =
    match === undefined
      ? undefined
      : withoutUndefined(validate(z.object({ match: schema }), { match: match ?? {} }, 'body').match);
  const { for: _, ...others } = changes;
  return { ...others, match: given };
};

/** Changes the locked row. Reviews and alerts that are open already keep the steps that they have. */
export const updateRoute = async (
  tx: Tx,
  actor: Actor,
  store: ChannelSettingsStore,
  before: RouteRow,
  given: ReturnType<typeof checkedChanges>,
): Promise<RouteRow> => {
  const changes = withoutUndefined({ ...given, steps: given.steps && normalized(given.steps) });
  if (changes.match) await checkMatch(tx, changes.match);
  if (changes.steps) await checkSteps(tx, store, before.for, changes.steps);
  const row = await updateRouteRow(tx, before.id, changes as Partial<RouteRow>);
  await audit(tx, actor, 'route.update', row.id, changes);
  return row;
};

export const deleteRoute = async (tx: Tx, actor: Actor, { id, name }: RouteRow): Promise<void> => {
  await deleteRouteRow(tx, id);
  await audit(tx, actor, 'route.delete', id, { name });
};
