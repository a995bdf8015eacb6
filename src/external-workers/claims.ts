import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { BudgetExceeded, Budgets } from '../budgets/index.ts';
import type { Database, Executor, Tx } from '../database/index.ts';
import type { JsonContext } from '../http/index.ts';
import { badRequest, notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { CurrentSettings } from '../settings/index.ts';
import { toWorkItemResponse, type WorkItem, workItemCalls, workItemRuns } from '../work-items/index.ts';
import { hashOf, newToken } from './leases.ts';
import type { ClaimBody } from './schemas.ts';
import { findExecutions, insertLease } from './store.ts';
import { endUsedUp } from './used-up.ts';
import type { WaitingRoom } from './waiting-room.ts';

/**
 * Number of turns of the event loop that it takes to see a close of the connection that has arrived. On a busy embedded
 * database, whose callers left all the time, 33 of 113 claims went to one that was gone with one turn, and 3 of 74 with
 * four.
 */
const turnsToSeeClose = 4;

/** Number of claims of one request, if all that was claimed was for used up budgets. */
const mostRounds = 20;

/** Number of agents that one claim may name; a longer list is a fault of the body. */
const mostAgents = 20;

/** The 400 for an agent whose Work Items the platform executes. */
export const notForExternalWorkers = (agentId: string) =>
  badRequest(`The agent ${agentId} is not for external workers: its \`execution\` is \`platform\`.`);

/** Throws 404 for an unknown agent, 400 for one whose Work Items are not for external workers. */
export const checkAgents = async (executor: Executor, agentIds: unknown): Promise<void> => {
  if (!Array.isArray(agentIds) || agentIds.length === 0 || agentIds.length > mostAgents) return;
  if (!agentIds.every((id) => typeof id === 'string')) return;
  if (!agentIds.every(isId)) throw notFound('agent');
  const found = new Map(
    (await findExecutions(executor, agentIds)).map((agent) => [agent.id, agent.execution]),
  );
  for (const id of agentIds as string[]) {
    const execution = found.get(id.toLowerCase());
    if (execution === undefined) throw notFound('agent');
    if (execution === 'external') continue;
    throw notForExternalWorkers(id);
  }
};

/** A traceparent (https://www.w3.org/TR/trace-context/) of a new trace, sampled, for the spans of one attempt. */
const newTrace = (): { traceId: string; traceparent: string } => {
  const traceId = randomBytes(16).toString('hex');
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
};

/** Gives the claimed Work Item a token and a trace. Returns what its worker needs. */
const toRecord = async (tx: Tx, item: WorkItem, leaseSeconds: number) => {
  const token = newToken();
  const { traceId, traceparent } = newTrace();
  const { id, fencing } = item;
  await insertLease(tx, { tokenHash: hashOf(token), workItemId: id, fencing, leaseSeconds });
  await workItemRuns.setTrace(tx, { id, fencing, traceId });
  return {
    work_item: toWorkItemResponse(item),
    lease_token: token,
    lease_expires_at: item.lease_expires_at!,
    traceparent,
    messages: await workItemCalls.listMessages(tx, id, item.conversation_id),
    decisions: item.decisions ?? [],
    lease: { id, fencing },
  };
};

type Record = Awaited<ReturnType<typeof toRecord>>;

/** Thrown to roll back the claim of a caller that is gone. */
class CallerGone extends Error {}

export type ClaimBudgets = Pick<Budgets, 'ready' | 'findUsedUp' | 'exceeded'>;

export interface ClaimParts {
  db: Database;
  settings: CurrentSettings;
  budgets: ClaimBudgets;
  room: WaitingRoom;
}

/** Request of the worker that claims. */
type Caller = Pick<JsonContext, 'principal' | 'signal' | 'checkAccess'>;

/**
 * Claims what there is for the agents, or waits for it. When the caller leaves or loses access, nothing stays claimed.
 */
export const claimRecords = async (
  { db, settings, budgets, room }: ClaimParts,
  { principal, signal, checkAccess }: Caller,
  body: ClaimBody,
): Promise<Record[]> => {
  const leaseSeconds = body.lease_seconds ?? settings.get().WORK_ITEM_LEASE_SECONDS;
  const owner = body.worker ?? principal.name;
  const agentIds = [...new Set(body.agent_ids)];

  const attempt = async (): Promise<Record[]> => {
    if (signal.aborted) return [];
    try {
      await budgets.ready(signal);
      let exceeded: BudgetExceeded[] = [];
      const records = await db.tx(async (tx) => {
        const claim = { owner, limit: body.limit, leaseSeconds, by: principal };
        const items: WorkItem[] = [];
        exceeded = [];
        // Those behind a used up budget make room for others.
        for (let round = 0; items.length === 0 && round < mostRounds; round++) {
          const claimed = await workItemCalls.claimFor(tx, agentIds, claim);
          if (claimed.length === 0) break;
          const checked = await endUsedUp(tx, budgets, claimed, principal);
          items.push(...checked.left);
          exceeded.push(...checked.exceeded);
        }
        const made: Record[] = [];
        for (const item of items) made.push(await toRecord(tx, item, leaseSeconds));
        for (let i = 0; i < turnsToSeeClose && made.length > 0 && !signal.aborted; i++) await setImmediate();
        if (signal.aborted) throw new CallerGone();
        return made;
      });
      for (const error of exceeded) await budgets.exceeded(error);
      if (!signal.aborted) return records;
      // The caller left while the claim was committed.
      for (const { lease } of records)
        await db.tx((tx) => workItemRuns.release(tx, { ...lease, by: principal }));
    } catch (error) {
      if (!(error instanceof CallerGone) && !signal.aborted) throw error;
    }
    return [];
  };

  const records = await attempt();
  if (records.length > 0 || body.wait_seconds === 0 || signal.aborted) return records;
  const attemptLater = async (): Promise<Record[]> => {
    await checkAccess();
    return attempt();
  };
  return room.wait({ agentIds, attempt: attemptLater, signal, milliseconds: body.wait_seconds * 1_000 });
};
