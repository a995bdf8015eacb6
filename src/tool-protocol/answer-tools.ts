import { z } from 'zod';
import type { Agent } from '../agents/index.ts';
import { id, optional, text } from '../http/index.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Actor } from '../lib/principal.ts';
import { type Tool, type ToolCall, tool, waitSeconds } from './tools.ts';

const runStatuses = ['queued', 'running', 'completed', 'needs_review', 'error', 'cancelled'] as const;

const output = z.object({
  conversation_id: id.describe('Send it again to go on in the same conversation.'),
  run_id: id.nullable().describe('The last run of the conversation; null before the first.'),
  status: z
    .enum(['idle', ...runStatuses])
    .describe(
      '`queued` and `running`: ask again with get_answer. `needs_review`: a person has to decide in the platform. `idle`: nothing was asked yet.',
    ),
  answer: z.string().nullable().describe('The reply of the agent; null before.'),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

/** State of a run of a conversation. */
export type Answer = z.input<typeof output>;

/** The caller and the agent that is asked. */
interface Asking {
  agent: Agent;
  actor: Actor;
}

/**
 * Functions of conversations that the tools of a conversational agent need, by the rules of their API: whose
 * conversations a principal sees, one run at a time. They throw the ApiErrors that the API would send.
 */
export interface Conversations {
  /**
   * Starts a run with a message, in a new conversation if `conversationId` is null. Resolves once it is committed, not at
   * its end.
   */
  ask(
    by: Asking,
    question: { message: string; conversationId: string | null; depth: number },
  ): Promise<{ conversationId: string; runId: string }>;
  /**
   * Resolves to how the run (default: the last one) is doing once it is neither queued nor running, after the time, and
   * when `signal` is aborted.
   */
  answer(
    by: Asking,
    run: { conversationId: string; runId?: string },
    wait: { seconds: number; signal: AbortSignal },
  ): Promise<Answer>;
  /** Cancels the run in progress, only if it is `runId` where that is given. Throws 412 if there is none. */
  cancel(by: Asking, run: { conversationId: string; runId?: string }): Promise<Answer>;
}

const conversationId = z.object({ conversation_id: z.string() });

/** The tools of a conversational agent, by the rules of conversations. Approvals are decided in the platform, never here. */
export const answerTools = (conversations: Conversations, log: Logger): Tool[] => {
  /**
   * Runs `fn`. In the modern era closing the stream cancels the request (2026-07-28, cancellation), and with it the run; a
   * legacy client that disconnects may come back.
   */
  const cancellable = async <T>(
    call: ToolCall,
    run: { conversationId: string; runId: string },
    fn: () => Promise<T>,
  ): Promise<T> => {
    const cancel = (): void => {
      conversations
        .cancel(call, run)
        .catch((error) =>
          log.info({ run_id: run.runId, error: messageOf(error) }, 'the run was not cancelled'),
        );
    };
    if (call.era === 'legacy') return fn();
    if (call.left.aborted) cancel();
    else call.left.addEventListener('abort', cancel, { once: true });
    return fn().finally(() => call.left.removeEventListener('abort', cancel));
  };

  return [
    tool({
      name: 'ask_agent',
      title: 'Ask the agent',
      description:
        'Sends a message to the agent and waits for its reply. If it is not there in time, status is `running`: get it with get_answer.',
      scope: 'conversations',
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      input: z.object({
        message: text(100_000, 1),
        conversation_id: optional(z.string()).describe('A conversation to go on in. Default: a new one.'),
        wait_seconds: waitSeconds(50),
      }),
      output,
      run: async (call, { message, conversation_id, wait_seconds }) => {
        const { depth, signal } = call;
        const run = await conversations.ask(call, {
          message,
          conversationId: conversation_id ?? null,
          depth,
        });
        const wait = { seconds: wait_seconds, signal };
        return cancellable(call, run, () => conversations.answer(call, run, wait));
      },
    }),
    tool({
      name: 'get_answer',
      title: 'Get the answer',
      description: 'Returns the reply to the last message of a conversation, or how the agent is doing.',
      scope: 'conversations:read',
      annotations: { readOnlyHint: true },
      input: conversationId.extend({ wait_seconds: waitSeconds(0) }),
      output,
      run: (call, { conversation_id, wait_seconds }) =>
        conversations.answer(
          call,
          { conversationId: conversation_id },
          { seconds: wait_seconds, signal: call.signal },
        ),
    }),
    tool({
      name: 'cancel_answer',
      title: 'Cancel the answer',
      description: 'Stops the agent in a conversation.',
      scope: 'conversations',
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      input: conversationId,
      output,
      run: (call, { conversation_id }) => conversations.cancel(call, { conversationId: conversation_id }),
    }),
  ];
};
