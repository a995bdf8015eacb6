import { agentCalls } from '../agents/index.ts';
import { audit, auditAll } from '../audit/index.ts';
import { budgetCalls } from '../budgets/index.ts';
import { type CallbackStore, recordDeliveries } from '../callbacks/index.ts';
import type { Database, Executor, Tx } from '../database/index.ts';
import { ApiError, badRequest, notFound } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import { type Deciding, reviewCalls } from '../reviews/index.ts';
import type { ContinueBody } from '../runs/index.ts';
import { readSettings } from '../settings/index.ts';
import { lockAndSettle } from './decisions.ts';
import { insertWorkItems } from './insertion.ts';
import { type NewWorkItemBody, toWorkItemResponse } from './schemas.ts';
import { readStart } from './start.ts';
import { type Action, allowedActions, leadsToPending } from './states.ts';
import { findWorkItem, findWorkItems, updateCallbacks, type WorkItem } from './store.ts';
import { endForBudget, moveAllBy, moveBy } from './transitions.ts';

/** Returns the Work Item. Throws 404 if there is none, also for a malformed id. */
export const getWorkItem = async (executor: Executor, id: string): Promise<WorkItem> => {
  const item = isId(id) ? await findWorkItem(executor, id) : undefined;
  if (!item) throw notFound('Work Item');
  return item;
};

/**
 * Throws the faults of a create body that come before those of its schema: 404 for an unknown agent, 400 for its mode,
 * 400 for a payload over MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB.
 */
export const checkNewWorkItem = async (db: Database, body: Record<string, unknown>): Promise<void> => {
  const { agent_id, payload } = body;
  if (typeof agent_id === 'string') {
    agentCalls.requireWorker(
      await db.run((executor) => agentCalls.get(executor, agent_id)),
      'Work Items can only be created for worker agents.',
    );
  }
  await checkPayloadSize(db, payload);
};

/** Size that fits whatever the setting is, in bytes. Most payloads are smaller, and their check costs no statement. */
const alwaysFits = 1024;

/** Throws 400 for a payload over MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB, measured as compact UTF-8 JSON. */
export const checkPayloadSize = async (db: Database, payload: unknown): Promise<void> => {
  if (payload === undefined || payload === null) return;
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes <= alwaysFits) return;
  const { MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB: kb } = await db.run(readSettings);
  if (bytes <= kb * 1024) return;
  throw badRequest(`payload: has ${bytes} bytes as JSON; the maximum is ${kb} KB (${kb * 1024} bytes).`, {
    setting: 'MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB',
  });
};

/** Creates a Work Item, PENDING or DRAFT. Throws 404 if the agent is gone. The caller audits it. */
export const createWorkItem = async (
  tx: Tx,
  item: {
    agentId: string;
    /** The schedule that a person ran; null if there is none. */
    scheduleId: string | null;
    workItemName: string | null;
    message: string;
    payload: Record<string, unknown>;
    draft: boolean;
    /** Time of its start; default at once. */
    startAt?: Date | null;
    principal: Principal;
    /** Number of agents that called each other before; default 0. */
    depth?: number;
    /** The trigger of which an event is delivered again, and the entry of its ledger. */
    triggerId?: string;
    occurrenceId?: string;
  },
): Promise<WorkItem> => {
  if (!(await agentCalls.lockForShare(tx, item.agentId))) throw notFound('agent');
  const row = {
    id: newId(),
    agent_id: item.agentId,
    schedule_id: item.scheduleId,
    occurrence: null,
    work_item_name: item.workItemName,
    message: item.message,
    payload: item.payload,
    start_at: item.startAt ?? null,
    trigger_id: item.triggerId ?? null,
    occurrence_id: item.occurrenceId ?? null,
    depth: item.depth ?? 0,
  };
  await insertWorkItems(tx, [row], item.draft ? 'DRAFT' : 'PENDING', item.principal);
  return getWorkItem(tx, row.id);
};

/** Gives a new Work Item its callbacks, and records that it was created. Returns them as the response shows them. */
const addCallbacks = async (
  tx: Tx,
  store: CallbackStore,
  actor: Actor,
  item: { id: string; agent_id: string; work_item_name: string | null; draft: boolean },
  given: NewWorkItemBody['callbacks'],
) => {
  const { stored, shown } = await store.add(tx, { workItemId: item.id }, given, actor);
  await updateCallbacks(tx, item.id, stored);
  if (!item.draft) {
    const created = {
      ...item,
      agent_version: null,
      schedule_id: null,
      status: 'PENDING',
      previous_status: null,
    };
    await recordDeliveries(tx, [created], 'work_item');
  }
  return shown;
};

type WorkItemResponse = ReturnType<typeof toWorkItemResponse>;

type NewRow = Omit<NewWorkItemBody, 'callbacks' | 'start_at'> & {
  id: string;
  schedule_id: null;
  occurrence: null;
  start_at: Date | null;
};

/** The row of a new Work Item, or why there can be none. */
const readRow = async (tx: Tx, body: Omit<NewWorkItemBody, 'callbacks'>): Promise<NewRow | ApiError> => {
  try {
    const start_at = await readStart(tx, body.start_at);
    return { ...body, start_at, id: newId(), schedule_id: null, occurrence: null };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
};

/**
 * Creates Work Items, and audits them. Resolves to the response of each, or to its error: 404 if its agent is gone,
 * 422 if it starts too late or has a callback that a member may not give. In their order.
 */
export const createAll = async (
  tx: Tx,
  actor: Actor,
  store: CallbackStore,
  bodies: readonly NewWorkItemBody[],
): Promise<(WorkItemResponse | ApiError)[]> => {
  const agents = new Set<string>();
  for (const agentId of [...new Set(bodies.map((body) => body.agent_id))].sort()) {
    if (await agentCalls.lockForShare(tx, agentId)) agents.add(agentId);
  }
  const made: { callbacks: NewWorkItemBody['callbacks']; row: NewRow | ApiError }[] = [];
  for (const { callbacks, ...body } of bodies) {
    const row = agents.has(body.agent_id)
      ? (store.refusalOf(actor, callbacks) ?? (await readRow(tx, body)))
      : notFound('agent');
    made.push({ callbacks, row });
  }
  const rows = made.flatMap(({ row }) => (row instanceof ApiError ? [] : row));
  for (const draft of [false, true]) {
    const some = rows.filter((row) => row.draft === draft);
    await insertWorkItems(tx, some, draft ? 'DRAFT' : 'PENDING', actor.principal);
  }
  const shown = new Map<string, Awaited<ReturnType<typeof addCallbacks>>>();
  for (const { row, callbacks } of made) {
    if (!(row instanceof ApiError) && callbacks.length > 0)
      shown.set(row.id, await addCallbacks(tx, store, actor, row, callbacks));
  }
  const found = await findWorkItems(
    tx,
    rows.map(({ id }) => id),
  );
  const items = new Map(found.map((item) => [item.id, item]));
  const responses = made.map(({ row }) => {
    if (row instanceof ApiError) return row;
    return { ...toWorkItemResponse(items.get(row.id)!), callbacks: shown.get(row.id) ?? [] };
  });
  const entries = rows.map(({ id, agent_id }) => ({
    action: 'work_item.create',
    targetId: id,
    details: { agent_id, status: items.get(id)!.status },
  }));
  await auditAll(tx, actor, entries);
  return responses;
};

const refusal = (item: WorkItem, action: Action): ApiError => {
  const allowed = allowedActions(item.status, item.agent_exists);
  const reason =
    !item.agent_exists && allowedActions(item.status).includes(action)
      ? `The agent of this Work Item was deleted, so it cannot ${action}.`
      : `A Work Item that is ${item.status} does not allow ${action}.`;
  return new ApiError('precondition_failed', reason, { status: item.status, allowed_actions: allowed });
};

/**
 * The refusal of an action that came too late. If `reviewId` was closed in the meantime, or someone continues what waited
 * before, it says who decided, and when: also if the Work Item has finished by then, which takes a moment at most.
 */
const lateRefusal = async (
  tx: Tx,
  item: WorkItem,
  action: Action,
  { principal }: Actor,
  reviewId: string | undefined,
): Promise<ApiError> => {
  const refused = refusal(item, action);
  const last = action === 'continue' ? await reviewCalls.findLast(tx, 'work_item', item.id) : undefined;
  const id = reviewId ?? last?.id;
  return id === undefined ? refused : reviewCalls.closedError(tx, id, principal, refused.context);
};

/** Someone who continues the Work Item itself, without naming its review. */
const withoutReview = ({ principal }: Actor): Deciding => ({
  review: null,
  by: { via: reviewCalls.viaOf(principal) ?? 'api' },
});

/**
 * Does what a person wants done to a Work Item. Throws 412 with `status` and `allowed_actions` if the table of states does
 * not allow it. `body` is what a person says to continue it: see `lockAndSettle`. `note` is added to the history. The
 * caller audits it; `details` is null if nothing changed.
 */
export const applyToItem = async (
  tx: Tx,
  item: WorkItem,
  action: Action,
  actor: Actor,
  body: ContinueBody = {},
  note: Record<string, unknown> = {},
  deciding: Deciding = withoutReview(actor),
): Promise<{ item: WorkItem; details: Record<string, unknown> | null }> => {
  const { id } = item;
  if (leadsToPending(action) && !(await agentCalls.lockForShare(tx, item.agent_id)))
    throw await lateRefusal(tx, await getWorkItem(tx, id), action, actor, deciding.review?.id);
  const settled = action === 'continue' ? await lockAndSettle(tx, id, actor, body, deciding) : null;
  const { details = {}, audited = {}, decisions = [], budget, reviewEnd, reviewId } = settled ?? {};
  const by = { principal: actor.principal, details: { ...note, ...details }, decisions, reviewEnd };
  if (budget?.approved) await budgetCalls.extend(tx, actor, budget);
  const moved =
    budget?.approved === false ? await endForBudget(tx, id, budget, by) : await moveBy(tx, action, id, by);
  if (moved) return { item: moved, details: audited };
  const now = await getWorkItem(tx, id);
  if (action === 'cancel' && now.status === 'EXECUTING') return { item: now, details: null };
  throw await lateRefusal(tx, now, action, actor, reviewId);
};

/** Performs the action and audits it. */
export const act = async (
  tx: Tx,
  item: WorkItem,
  action: Action,
  actor: Actor,
  body: ContinueBody = {},
  deciding?: Deciding,
): Promise<WorkItem> => {
  const { item: moved, details } = await applyToItem(tx, item, action, actor, body, {}, deciding);
  if (details) await audit(tx, actor, `work_item.${action}`, item.id, { status: moved.status, ...details });
  return moved;
};

/** Cancels the open Work Items of an agent that was deleted. */
export const cancelOpenWorkItems = (tx: Tx, agentId: string, { principal }: Actor): Promise<void> =>
  moveAllBy(tx, 'cancel', agentId, { principal, details: { reason: 'the agent was deleted' } });
