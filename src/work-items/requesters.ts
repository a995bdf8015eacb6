import { rootsOf } from '../access/index.ts';
import type { Agent } from '../agents/index.ts';
import type { Tx } from '../database/index.ts';
import { ApiError } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import type { Decision } from './approvals.ts';

/**
 * Throws 403 if the agent wants another person to approve its tool calls than who asked for the work, and the actor belongs
 * to one of `requesters` (ids of principals). A key counts as the person to whom it belongs. Who asked may deny.
 */
export const requireAnotherPerson = async (
  tx: Tx,
  { principal }: Actor,
  { settings }: Pick<Agent, 'settings'>,
  requesters: readonly string[],
  decisions: readonly Decision[],
): Promise<void> => {
  if (!settings.approver_not_requester) return;
  if (!decisions.some(({ decision }) => decision === 'approve')) return;
  const roots = await rootsOf(tx, requesters);
  if (![...roots.values()].includes(principal.rootId)) return;
  throw new ApiError(
    'forbidden',
    'You asked for this work, so you may not approve its tool calls (approver_not_requester). Ask another person to decide.',
  );
};
