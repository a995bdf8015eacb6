import { rootsOf } from '../access/index.ts';
import type { Tx } from '../database/index.ts';
import { ApiError } from '../lib/errors.ts';
import { type Actor, type Role, roleAllows } from '../lib/principal.ts';
import { checkDecisions } from './settle.ts';
import type { Decision, PendingApproval } from './types.ts';

/** Requirements of an agent's settings for those who decide on its tool calls. */
interface Required {
  settings: { approver_not_requester: boolean };
}

/** Throws 403 if only a higher role may decide on the tool calls of the agent. */
const requireRole = (role: Role, required: Role): void => {
  if (roleAllows(role, required)) return;
  throw new ApiError(
    'forbidden',
    `Deciding on the tool calls of this agent requires the role ${required} or a higher one.`,
  );
};

/**
 * Throws 403 if the agent wants another person to approve its tool calls than who asked for the work, and the actor belongs
 * to one of `requesters` (ids of principals). A key counts as the person to whom it belongs. Who asked may deny.
 */
const requireAnotherPerson = async (
  tx: Tx,
  { principal }: Actor,
  { settings }: Required,
  requesters: () => Promise<readonly string[]>,
  decisions: readonly Decision[],
): Promise<void> => {
  if (!settings.approver_not_requester) return;
  if (!decisions.some(({ decision }) => decision === 'approve')) return;
  const roots = await rootsOf(tx, await requesters());
  if (![...roots.values()].includes(principal.rootId)) return;
  throw new ApiError(
    'forbidden',
    'You asked for this work, so you may not approve its tool calls (approver_not_requester). Ask another person to decide.',
  );
};

/** Throws 403 if a budget waits for an administrator and the actor is none: whoever goes on decides about it. */
export const checkBudgetDecider = (
  { principal }: Actor,
  pending: readonly PendingApproval[] | null | undefined,
): void => {
  if (!pending?.some(({ kind }) => kind === 'budget') || roleAllows(principal.role, 'admin')) return;
  throw new ApiError(
    'forbidden',
    'A budget is used up. Deciding whether it has more room requires the role admin.',
  );
};

/**
 * Throws 403 unless the actor has the role (null: any) and may decide on the tool calls of the agent (null: it was deleted),
 * and 422 for decisions that contradict themselves. `requesters` returns the ids of the principals who asked for the work.
 */
export const checkDeciders = async (
  tx: Tx,
  actor: Actor,
  agent: Required | null,
  required: Role | null,
  requesters: () => Promise<readonly string[]>,
  decisions: readonly Decision[],
): Promise<void> => {
  if (decisions.length === 0) return;
  if (required) requireRole(actor.principal.role, required);
  if (agent) await requireAnotherPerson(tx, actor, agent, requesters, decisions);
  checkDecisions(decisions);
};
