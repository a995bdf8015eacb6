import type { NewApproval, StoredDecision } from '../work-items/index.ts';
import { type ContextCut, noCut } from './context.ts';
import type { RunStart } from './run-store.ts';

/** What earlier attempts and people left, as it is stored. Null: nothing. */
interface StoredStart {
  decisions: readonly StoredDecision[] | null;
  unsafe_calls: readonly NewApproval[] | null;
  context_cut: ContextCut | null;
  tokens_before: number;
}

/** The same as the loop takes it. */
export const toRunStart = (stored: StoredStart): Omit<RunStart, 'messages'> => ({
  approved: (stored.decisions ?? []).flatMap(
    ({ decision, tool_call_id, arguments: args = {}, edited = false, definition_hash = null }) =>
      decision === 'approve' && tool_call_id !== undefined
        ? [{ tool_call_id, arguments: args, edited, definition_hash }]
        : [],
  ),
  interrupted: (stored.unsafe_calls ?? []).flatMap(({ tool_call_id }) => tool_call_id ?? []),
  context: { ...noCut, ...stored.context_cut },
  tokensBefore: stored.tokens_before,
});
