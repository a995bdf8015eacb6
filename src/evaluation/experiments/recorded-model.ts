import { noUsage } from '../../lib/usage.ts';
import type { Candidate } from '../../runtime/index.ts';
import { submitResultName } from '../../runtime/index.ts';
import type { RecordedReply } from './tape.ts';

/** The conversation is never cut for it. */
const contextTokens = Number.MAX_SAFE_INTEGER;

/**
 * A model that gives the n-th recorded reply to the n-th call, whatever it is asked. `onEnd` is called when it is asked
 * for more, and does not return.
 */
export const recordedModel = (replies: readonly RecordedReply[], onEnd: () => never): Candidate => {
  let n = 0;
  return {
    llmId: 'recorded',
    contextTokens,
    model: {
      provider: 'recorded',
      name: 'recorded',
      step: async () => {
        const reply = replies[n++];
        if (!reply) return onEnd();
        const { message, usage, finishReason, isReminded } = reply;
        const hasCalls = message.tool_calls.length > 0;
        return {
          text: message.text,
          toolCalls: message.tool_calls,
          usage: { ...noUsage, ...usage },
          finishReason: finishReason ?? (hasCalls ? 'tool-calls' : 'stop'),
          responseModel: 'recorded',
          responseId: null,
          providerParts: message.provider_parts ?? null,
          // A model that was not given the tool gave its result as text, and was not reminded of the tool.
          ...(hasCalls || isReminded ? {} : { leftOut: [submitResultName] }),
        };
      },
    },
  };
};
