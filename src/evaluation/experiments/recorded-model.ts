import { noUsage } from '../../lib/usage.ts';
import { type Candidate, ModelError, submitResultName } from '../../runtime/index.ts';
import type { Tape } from './tape.ts';

/** The conversation is never cut for it. */
const contextTokens = Number.MAX_SAFE_INTEGER;

/**
 * A model that gives the n-th recorded reply to the n-th call, whatever it is asked. Where the source failed and a person
 * continued it, it fails. `onEnd` is called when it is asked for more than was recorded, and does not return.
 */
export const recordedModel = ({ replies, continued }: Tape, onEnd: () => never): Candidate => {
  let n = 0;
  return {
    llmId: 'recorded',
    contextTokens,
    model: {
      provider: 'recorded',
      name: 'recorded',
      step: async () => {
        const [next] = continued;
        if (next?.stopped === 'error' && next.replies === n) {
          throw new ModelError('model_unavailable', 'The recorded run failed here.', { retryable: false });
        }
        const reply = replies[n++];
        if (!reply) return onEnd();
        const { message, recorded, isReminded } = reply;
        const hasCalls = message.tool_calls.length > 0;
        const parts = recorded?.provider_parts ?? null;
        // A model that was not given the tool gave its result as text, and was not reminded of the tool.
        const leftOut = recorded?.left_out ?? (hasCalls || isReminded ? [] : [submitResultName]);
        return {
          text: message.text,
          toolCalls: message.tool_calls,
          usage: { ...noUsage, ...recorded?.usage },
          tokens: null,
          finishReason: recorded?.finish_reason ?? (hasCalls ? 'tool-calls' : 'stop'),
          responseModel: 'recorded',
          responseId: null,
          providerParts: parts,
          leftOut,
        };
      },
    },
  };
};
