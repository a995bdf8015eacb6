import type { Tx } from '../database/index.ts';
import { isSame } from '../lib/differences.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import { type Actor, roleAllows } from '../lib/principal.ts';
import type { Agent } from './store.ts';
import type { Gatekeeper } from './versions/gatekeeper.ts';

/** The rules of the gate as a field of an agent. */

export interface GateOptions {
  /** The dataset may have too few cases, which are imported afterwards. */
  mayLackCases?: boolean;
}

type Gated = Pick<Agent, 'mode' | 'release' | 'execution' | 'gate'>;

interface GateChange {
  /** The agent with its draft; null for a new one. */
  before: Gated | null;
  after: Gated;
  /** External workers execute the published version. */
  isExternal: boolean;
}

const wrong = (path: string, message: string) => unprocessable([{ path, message }]);

/**
 * Keeps the dataset of the gate that the agent has after a change from being deleted until the transaction ends. Throws
 * 403 for a change by who is no admin, and 422 for a gate that the agent cannot have.
 */
export const lockGate = async (
  tx: Tx,
  { principal }: Actor,
  hooks: { gatekeeper: () => Gatekeeper },
  { before, after, isExternal }: GateChange,
  { mayLackCases = false }: GateOptions,
): Promise<void> => {
  const { gate } = after;
  const isChanged = !isSame(before?.gate ?? null, gate);
  if (isChanged && !roleAllows(principal.role, 'admin')) {
    throw new ApiError('forbidden', 'Only admins change the gate of an agent: it binds its builders.');
  }
  if (!gate) return;
  if (after.release !== 'manual') {
    throw before && before.release === 'manual' && before.gate
      ? wrong('release', 'cannot be automatic while the agent has a gate; remove the gate first')
      : wrong('gate', 'requires `release: manual`');
  }
  const isExternalNow = after.execution === 'external';
  if (isChanged && (isExternalNow || isExternal)) {
    const message = 'is not for agents that external workers execute: the platform cannot run them on a case';
    throw wrong('gate', message);
  }
  if (isExternalNow && before?.execution !== 'external') {
    throw wrong('execution', 'cannot be external while the agent has a gate; remove the gate first');
  }
  if (isChanged) await hooks.gatekeeper().lockGate(tx, after.mode, gate, { mayLackCases });
};
