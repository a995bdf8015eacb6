import { getAgent, lockAgentForShare, requireWorker } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import { type Database, type Executor, notify, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { ApiError, badRequest, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import { appendMessage } from './history-store.ts';
import { textPart } from './messages.ts';
import { type Action, actions, allowedActions, type Status } from './states.ts';
import {
  cancelsChannel,
  insertion,
  insertWorkItems,
  selectWorkItem,
  type Transition,
  transition,
  type WorkItem,
  workItemsChannel,
} from './store.ts';

/** The Work Item; 404 where there is none, also for a malformed id. */
export const findWorkItem = async (executor: Executor, id: string): Promise<WorkItem> => {
  const item = await selectWorkItem(executor, id);
  if (!item) throw notFound('Work Item');
  return item;
};

/**
 * The faults of a create body that come before those of its schema: 404 of the agent, 400 for its kind, 400 for
 * a payload over MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB.
 */
export const checkNewWorkItem = async (db: Database, body: Record<string, unknown>): Promise<void> => {
  const { agent_id, payload } = body;
  if (typeof agent_id === 'string') {
    requireWorker(
      await db.run((executor) => getAgent(executor, agent_id)),
      'Work Items can only be created for worker agents.',
    );
  }
  await checkPayloadSize(db, payload);
};

/** 400 for a payload over MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB, measured as compact UTF-8 JSON. */
export const checkPayloadSize = async (db: Database, payload: unknown): Promise<void> => {
  if (payload === undefined || payload === null) return;
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  const { MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB: kb } = await db.run(readSettings);
  if (bytes <= kb * 1024) return;
  throw badRequest(`payload: has ${bytes} bytes as JSON; the maximum is ${kb} KB (${kb * 1024} bytes).`, {
    setting: 'MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB',
  });
};

/** Create one Work Item, PENDING or DRAFT. 404 where the agent is gone. Not audited here. */
export const createWorkItem = async (
  tx: Tx,
  item: {
    agentId: string;
    /** The schedule that was run by hand; null where there is none. */
    scheduleId: string | null;
    workItemName: string | null;
    message: string;
    payload: Record<string, unknown>;
    draft: boolean;
    principal: Principal;
  },
): Promise<WorkItem> => {
  if (!(await lockAgentForShare(tx, item.agentId))) throw notFound('agent');
  const row = {
    id: newId(),
    agent_id: item.agentId,
    schedule_id: item.scheduleId,
    occurrence: null,
    work_item_name: item.workItemName,
    message: item.message,
    payload: item.payload,
  };
  await insertWorkItems(tx, [row], item.draft ? 'DRAFT' : 'PENDING', item.principal);
  return findWorkItem(tx, row.id);
};

const scheduler: Principal = {
  kind: 'system',
  id: 'scheduler',
  name: 'scheduler',
  role: 'admin',
  keyId: null,
};

/**
 * The part of a firing's statement that makes the rows of `source` (see `insertion`) PENDING Work Items. The caller
 * holds the rows of their schedules, without which an agent is not deleted, and tells `workItemsChannel`.
 */
export const firedInsertion = (source: RawBuilder<unknown>): RawBuilder<unknown> =>
  insertion(source, 'PENDING', scheduler);

/** The next status by the table of states. */
const nextBy = (action: Action) =>
  sql`case w.status ${sql.join(
    Object.entries(actions[action]).map(([from, to]) => sql`when ${sql.lit(from)} then ${sql.lit(to)}`),
    sql` `,
  )} end`;

const allows = (action: Action) => {
  const from = sql`w.status in (${sql.join(Object.keys(actions[action]).map((status) => sql.lit(status)))})`;
  // Asked twice, a cancel changes nothing.
  return action === 'cancel' ? sql`${from} and w.cancel_requested_at is null` : from;
};

/** Attempts begin anew, and nothing is left of how the last one ended. */
const afresh = [
  sql`attempts = 0`,
  sql`not_before = null`,
  sql`result = null`,
  sql`error = null`,
  sql`cancel_requested_at = null`,
];

const setBy: Record<Action, () => Transition['set']> = {
  submit: () => [],
  cancel: () => [
    sql`cancel_requested_at = case when w.status = 'EXECUTING' then platform_now() end`,
    sql`not_before = null`,
  ],
  continue: () => afresh,
  restart: () => [
    ...afresh,
    sql`conversation_id = ${newId()}`,
    sql`usage = null`,
    sql`started_at = null`,
    sql`trace_id = null`,
  ],
  complete: () => [sql`error = null`],
};

const refused = (item: WorkItem, action: Action): ApiError => {
  const allowed = allowedActions(item.status, item.agent_exists);
  const reason =
    !item.agent_exists && allowedActions(item.status).includes(action)
      ? `The agent of this Work Item was deleted, so it cannot ${action}.`
      : `A Work Item that is ${item.status} does not allow ${action}.`;
  return new ApiError('precondition_failed', reason, { status: item.status, allowed_actions: allowed });
};

/**
 * What a person does to a Work Item, audited; 412 with `status` and `allowed_actions` where the table of states
 * does not have it. `message` goes on with the conversation (continue).
 */
export const act = async (
  tx: Tx,
  item: WorkItem,
  action: Action,
  actor: Actor,
  message?: string,
): Promise<WorkItem> => {
  const { id } = item;
  const toPending = Object.values<Status>(actions[action]).includes('PENDING');
  if (toPending && !(await lockAgentForShare(tx, item.agent_id)))
    throw refused(await findWorkItem(tx, id), action);
  const [moved] = await transition(tx, {
    where: sql`w.id = ${id} and ${allows(action)}`,
    to: nextBy(action),
    set: setBy[action](),
    action,
    principal: actor.principal,
  });
  if (!moved) {
    const now = await findWorkItem(tx, id);
    if (action === 'cancel' && now.status === 'EXECUTING') return now;
    throw refused(now, action);
  }
  if (message) {
    const { conversation_id } = moved;
    await appendMessage(tx, {
      work_item_id: id,
      conversation_id,
      role: 'user',
      content: [textPart(message)],
    });
  }
  if (moved.status === 'EXECUTING') await notify(tx, cancelsChannel, id);
  await audit(tx, actor, `work_item.${action}`, id, { status: moved.status });
  return moved;
};

/** Cancel what is open of an agent that was deleted. */
export const cancelOpenWorkItems = async (tx: Tx, agentId: string, { principal }: Actor): Promise<void> => {
  const cancelled = await transition(tx, {
    where: sql`w.agent_id = ${agentId} and ${allows('cancel')}`,
    to: nextBy('cancel'),
    set: setBy.cancel(),
    action: 'cancel',
    principal,
    details: { reason: 'the agent was deleted' },
  });
  for (const { id, status } of cancelled) if (status === 'EXECUTING') await notify(tx, cancelsChannel, id);
};

/** Workers look for what they may claim, when the transaction has committed. */
export const wakeWorkers = (tx: Tx): Promise<void> => notify(tx, workItemsChannel);
