import { isDeepStrictEqual } from 'node:util';
import { type Agent, agentCalls } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import { type Executor, notify, type Tx } from '../database/index.ts';
import type { EventConnections } from '../event-connections/index.ts';
import { ApiError, badRequest, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import { recordVersion } from './definition-store.ts';
import { expressionProblems } from './expressions/index.ts';
import {
  type Configured,
  columnsOf,
  fixedSettings,
  type Given,
  publicSettings,
  type SettingsStore,
} from './settings.ts';
import {
  countTriggers,
  deleteTriggerRow,
  type Fields,
  findLockedTrigger,
  findTriggerLockedToDelete,
  findTriggerOfAgent,
  insertTrigger,
  isNameTaken,
  listWatchers,
  lockForShare,
  type TriggerRow,
  triggers,
  triggersChannel,
  updateTrigger,
} from './store.ts';
import { generateSecret, isSigned, secretProblem } from './webhooks/index.ts';

/** Event connections, as far as definitions use them. */
type Connections = Pick<EventConnections, 'lockForTrigger'>;

export interface TriggerParts {
  store: SettingsStore;
  connections: Connections;
}

/** The body of create and replace, with its defaults filled in. */
export type Definition = Fields & Given;

const checkWorker = (agent: Pick<Agent, 'mode'>): void =>
  agentCalls.requireWorker(agent, 'Triggers can only be created for worker agents.');

/** Returns the agent of a trigger's path. Throws 404 if there is none, 400 if it is not a Worker agent. */
export const getWorker = async (executor: Executor, agentId: string): Promise<Agent> => {
  const agent = await agentCalls.get(executor, agentId);
  checkWorker(agent);
  return agent;
};

/** Returns the trigger that a path names. Throws 404 for the agent, 400 for its mode, 404 for the trigger. */
export const getTrigger = async (executor: Executor, agentId: string, id: string): Promise<TriggerRow> => {
  if (!isId(agentId)) throw notFound('agent');
  if (!isId(id)) {
    await getWorker(executor, agentId);
    throw notFound('trigger');
  }
  const found = await findTriggerOfAgent(executor, agentId, id);
  if (!found) throw notFound('agent');
  checkWorker(found);
  if (!found.trigger) throw notFound('trigger');
  return found.trigger;
};

/** Returns the trigger, locked until the transaction ends. Throws 404 if it is gone. */
export const lockTrigger = async (tx: Tx, id: string): Promise<TriggerRow> => {
  const row = await findLockedTrigger(tx, id);
  if (!row) throw notFound('trigger');
  return row;
};

/** Like `lockTrigger`, and no trigger begins to watch it. */
export const lockToDelete = async (tx: Tx, id: string): Promise<TriggerRow> => {
  const row = await findTriggerLockedToDelete(tx, id);
  if (!row) throw notFound('trigger');
  return row;
};

/** The scheme by which the deliveries of a trigger are signed; null if nothing of them is. */
const signedBy = (given: Given, secret: string | null): string | null =>
  given.kind === 'webhook' && isSigned(given.settings, secret) ? given.settings.scheme : null;

/** Throws 400 or 422 unless an absence watches one thing. */
const checkWatched = ({ kind, settings }: Given): void => {
  if (kind !== 'absence' || (settings.trigger_id === null) !== (settings.agent_id === null)) return;
  const path = 'settings.trigger_id';
  if (settings.trigger_id !== null) {
    throw unprocessable([{ path, message: 'must not be given together with `agent_id`' }]);
  }
  const message = 'is required, or `agent_id`';
  throw badRequest(`${path}: ${message}`, { details: [{ path, message }] });
};

/** Throws 400 or 422 for what the schema cannot check of a definition: its expressions, and what it watches. */
export const checkDefinition = (definition: Definition, secret: string | null): void => {
  checkWatched(definition);
  const problems = expressionProblems(definition, signedBy(definition, secret));
  if (problems.length > 0) throw unprocessable(problems);
};

/** Throws 422 for expressions that are wrong in a definition that is only tried. */
export const checkTried = (definition: Definition, secret: string | null): void => {
  checkWatched(definition);
  const problems = expressionProblems(
    definition,
    signedBy(
      definition,
      secret ?? (definition.kind === 'webhook' ? generateSecret(definition.settings) : null),
    ),
  );
  if (problems.length === 0) return;
  throw unprocessable(problems.map((problem) => ({ ...problem, path: `trigger.${problem.path}` })));
};

const secretFault = (message: string) => unprocessable([{ path: 'settings.secret', message }]);

/** Throws 422 for a given secret that the scheme cannot use. */
export const checkSecret = (settings: Parameters<typeof secretProblem>[0], secret: string): void => {
  const problem = secretProblem(settings, secret);
  if (problem !== null) throw secretFault(problem);
};

/** The settings of a new trigger, and the secret that was generated for it. Throws 400 if it needs a given one. */
export const newSettings = (given: Given): { configured: Configured; generated: string | null } => {
  if (given.kind !== 'webhook') return { configured: given as Configured, generated: null };
  const { secret, ...settings } = given.settings;
  if (secret !== undefined) checkSecret(settings, secret);
  const generated = secret === undefined ? generateSecret(settings) : null;
  const kept = secret ?? generated;
  if (kept === null && settings.scheme !== 'none') {
    const message = `is required: ${settings.scheme} makes it, and shows it next to the address of the webhook`;
    throw badRequest(`settings.secret: ${message}`, { details: [{ path: 'settings.secret', message }] });
  }
  const stored = { ...settings, secret: kept, previous_secret: null };
  return { configured: { kind: 'webhook', settings: stored } as Configured, generated };
};

/** Locks what the settings refer to. Throws 404 for an agent or a trigger that does not exist, 422 for a connection. */
const lockReferences = async (tx: Tx, { connections }: TriggerParts, given: Given): Promise<void> => {
  const { kind, settings } = given;
  if (kind === 'nats' || kind === 'kafka') {
    return connections.lockForTrigger(tx, settings.connection_id, kind);
  }
  if (kind === 'webhook') {
    if (settings.scheme !== 'none' || (await readSettings(tx)).ALLOW_UNSIGNED_WEBHOOKS) return;
    const message = 'requires the setting ALLOW_UNSIGNED_WEBHOOKS';
    throw unprocessable([{ path: 'settings.scheme', message }]);
  }
  if (settings.agent_id !== null && !(await agentCalls.lockForShare(tx, settings.agent_id)))
    throw notFound('agent');
  if (kind === 'absence' && settings.trigger_id !== null) {
    if (!isId(settings.trigger_id) || !(await lockForShare(tx, settings.trigger_id)))
      throw notFound('trigger');
  }
};

const windowOf = (given: Given): number | null =>
  given.kind === 'absence' ? given.settings.window_seconds : null;

const checkName = async (tx: Tx, agentId: string, name: string, except: string | null): Promise<void> => {
  if (!(await isNameTaken(tx, agentId, name, except))) return;
  throw unprocessable([{ path: 'name', message: 'is the name of another trigger of this agent' }]);
};

const definitionDetails = ({ name, kind, filter, dedup, rate_limit }: TriggerRow) => ({
  name,
  kind,
  filter,
  dedup,
  rate_limit,
});

/** Creates a trigger. Returns it with the secret that was generated for it. */
export const createTrigger = async (
  tx: Tx,
  actor: Actor,
  parts: TriggerParts,
  agentId: string,
  { enabled, ...definition }: Definition & { enabled: boolean },
): Promise<{ row: TriggerRow; generated: string | null }> => {
  const { configured, generated } = newSettings(definition);
  // Locked, so that none of several creates at once counts too few, and no name is taken twice.
  checkWorker(await agentCalls.lockMode(tx, agentId));
  const most = (await readSettings(tx)).MAX_TRIGGERS_PER_AGENT;
  if ((await countTriggers(tx, agentId)) >= most) {
    throw badRequest(`The agent has ${most} triggers, the maximum. Delete one first.`, {
      setting: 'MAX_TRIGGERS_PER_AGENT',
    });
  }
  await checkName(tx, agentId, definition.name, null);
  await lockReferences(tx, parts, definition);
  const id = newId();
  const { kind, settings: _, ...fields } = definition;
  const row = await insertTrigger(
    tx,
    fields,
    {
      id,
      agent_id: agentId,
      kind,
      enabled,
      settings: parts.store.seal(id, configured),
      ...columnsOf(configured),
    },
    enabled ? windowOf(definition) : null,
  );
  const settings = publicSettings(configured.settings);
  await recordVersion(tx, row, settings, { action: 'create', principal: actor.principal });
  await notify(tx, triggersChannel, id);
  await audit(tx, actor, 'trigger.create', id, {
    agent_id: agentId,
    ...definitionDetails(row),
    enabled,
    settings: parts.store.masked(configured),
  });
  return { row, generated };
};

const unchangeable = (path: string) => unprocessable([{ path, message: 'cannot be changed' }]);

/** The settings of a replacement. Throws 422 for what never changes, and for another secret. */
const replacedSettings = (before: Configured, given: Given): Configured => {
  if (given.kind !== before.kind) throw unchangeable('kind');
  const [old, next] = [before.settings, given.settings] as Record<string, unknown>[];
  for (const name of fixedSettings) {
    if ((old![name] ?? null) !== (next![name] ?? null)) throw unchangeable(`settings.${name}`);
  }
  if (before.kind !== 'webhook') return given as Configured;
  const { secret, previous_secret } = before.settings;
  if (next!.secret !== undefined && next!.secret !== secret)
    throw secretFault('cannot be changed here: rotate it');
  return { kind: 'webhook', settings: { ...next, secret, previous_secret } } as Configured;
};

/** Checks a replacement against the locked trigger. Throws 422. */
export const checkReplacement = (store: SettingsStore, before: TriggerRow, definition: Definition): void => {
  const { kind, settings } = replacedSettings(store.open(before), definition);
  checkDefinition(definition, kind === 'webhook' ? settings.secret : null);
};

/** Replaces the definition. `before` is locked. */
export const replaceTrigger = async (
  tx: Tx,
  actor: Actor,
  parts: TriggerParts,
  before: TriggerRow,
  definition: Definition,
): Promise<TriggerRow> => {
  const old = parts.store.open(before);
  const configured = replacedSettings(old, definition);
  await checkName(tx, before.agent_id, definition.name, before.id);
  await lockReferences(tx, parts, definition);
  const { kind: _, settings: __, ...fields } = definition;
  const row = await updateTrigger(
    tx,
    before.id,
    {
      settings: parts.store.seal(before.id, configured),
      ...columnsOf(configured),
      ...(before.enabled && { windowSeconds: windowOf(definition) }),
      blocked_reason: null,
    },
    fields,
  );
  const [shownBefore, shown] = [publicSettings(old.settings), publicSettings(configured.settings)];
  const changed: string[] = (Object.keys(triggers.fields) as (keyof Fields)[]).filter(
    (field) => !isDeepStrictEqual(before[field], row[field]),
  );
  if (!isDeepStrictEqual(shownBefore, shown)) changed.push('settings');
  await recordVersion(tx, row, shown, { action: 'update', principal: actor.principal, changed });
  await notify(tx, triggersChannel, row.id);
  await audit(tx, actor, 'trigger.update', row.id, {
    before: definitionDetails(before),
    after: definitionDetails(row),
    settings: parts.store.masked(configured),
  });
  return row;
};

/** The most triggers that an error names. */
const shownTriggers = 10;

/** Deletes the trigger, which is locked. Throws 412 while triggers watch it. Retention deletes its events. */
export const deleteTrigger = async (tx: Tx, actor: Actor, row: TriggerRow): Promise<void> => {
  const watchers = await listWatchers(tx, row.id, shownTriggers);
  if (watchers.length > 0) {
    throw new ApiError(
      'precondition_failed',
      'Triggers of the kind absence watch this trigger. Delete them, or let them watch another one, first.',
      { trigger_ids: watchers },
    );
  }
  await deleteTriggerRow(tx, row.id);
  await notify(tx, triggersChannel, row.id);
  const { agent_id, name, kind } = row;
  await audit(tx, actor, 'trigger.delete', row.id, { agent_id, name, kind });
};
