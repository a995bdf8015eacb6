import { useState } from 'react';
import { type ApiProblem, useAction } from '../api/index.ts';
import { decidable } from './pair.ts';
import type { Decision, PendingApproval } from './types.ts';

/** The decisions about waiting calls. */
export interface Deciding {
  waiting: readonly PendingApproval[];
  decided: ReadonlyMap<string, Decision>;
  /** Sends the decision if one call waits; if several do, it is kept until `send`. */
  decide: (decision: Decision) => Promise<boolean>;
  undo: (approvalId: string) => void;
  send: () => Promise<boolean>;
  busy: boolean;
  error: ApiProblem | null;
  disabledReason: string | null;
}

/**
 * The decisions about what waits. The API wants one about each call in one request, so that of several calls each is
 * decided first, and all are sent together.
 */
export const useDecisions = (
  pending: readonly PendingApproval[],
  perform: (decisions: Decision[]) => Promise<unknown>,
  disabledReason: string | null = null,
): Deciding => {
  const [decided, setDecided] = useState<ReadonlyMap<string, Decision>>(new Map());
  const action = useAction(async (decisions: Decision[]) => {
    await perform(decisions);
    setDecided(new Map());
    return true;
  });
  const waiting = decidable(pending);
  const run = async (decisions: Decision[]) => (await action.run(decisions)) ?? false;
  return {
    waiting,
    decided,
    decide: async (decision) => {
      if (waiting.length === 1) return run([decision]);
      setDecided((before) => new Map(before).set(decision.approval_id, decision));
      return true;
    },
    undo: (approvalId) => setDecided((before) => new Map([...before].filter(([id]) => id !== approvalId))),
    send: () => run(waiting.flatMap(({ approval_id }) => decided.get(approval_id) ?? [])),
    busy: action.busy,
    error: action.error,
    disabledReason,
  };
};
