import { type Agent, agentCalls } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import type { Database, Tx } from '../database/index.ts';
import type { Watcher } from '../event-streams/index.ts';
import { notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { getConversation, lockConversation } from './conversations.ts';
import { type ConversationRun, findLastRun, findRun } from './run-store.ts';
import { cancelRun, waitForRun } from './runs.ts';
import { sendMessage } from './send-message.ts';
import { insertConversation } from './store.ts';

/** The caller and the agent that is asked. */
interface By {
  agent: Agent;
  actor: Actor;
}

/** Returns the state of the last run of a conversation, for the tool protocol. */
const toAnswer = (
  conversationId: string,
  run: Pick<ConversationRun, 'id' | 'status' | 'answer' | 'error'> | undefined,
) => ({
  conversation_id: conversationId,
  run_id: run?.id ?? null,
  status: run?.status ?? ('idle' as const),
  answer: run?.answer ?? null,
  error: run?.error ?? null,
});

const insert = async (tx: Tx, { agent, actor }: By): Promise<string> => {
  if (!(await agentCalls.lockForShare(tx, agent.id))) throw notFound('agent');
  const id = newId();
  const created_by = actor.principal.id;
  await insertConversation(tx, { id, agent_id: agent.id, name: null, metadata: {}, created_by });
  await audit(tx, actor, 'conversation.create', id, { agent_id: agent.id });
  return id;
};

/**
 * Functions of conversations for other features, by the same rules as the API: whose they are, and one run at a time.
 */
export const createAsking = (db: Database, watcher: Watcher) => {
  /** Throws 404 for a conversation that does not exist, of another agent, or of someone else. */
  const check = async ({ agent, actor }: By, id: string): Promise<void> => {
    await db.run((executor) =>
      getConversation(executor, { agentId: agent.id, id, principal: actor.principal }),
    );
  };

  return {
    /**
     * Starts a run with a message, in a new conversation if `conversationId` is null. Throws 412 while one is in
     * progress, and while tool calls wait for approval: callers of the protocol never decide on them.
     */
    ask: async (
      by: By,
      { message, conversationId, depth }: { message: string; conversationId: string | null; depth: number },
    ) => {
      if (conversationId !== null) await check(by, conversationId);
      return db.tx(async (tx) => {
        const id = conversationId ?? (await insert(tx, by));
        const said = { content: message, decisions: undefined, mustNotDecide: true };
        const run = await sendMessage(tx, id, { actor: by.actor, said, depth });
        return { conversationId: id, runId: run.id };
      });
    },

    /**
     * Resolves to how a run (default: the last one) is doing, at its end if that comes in time. Throws 404 if it is
     * deleted before.
     */
    answer: async (
      by: By,
      { conversationId, runId }: { conversationId: string; runId?: string },
      wait: { seconds: number; signal: AbortSignal },
    ) => {
      await check(by, conversationId);
      const run = await db.run((executor) =>
        runId === undefined ? findLastRun(executor, conversationId) : findRun(executor, runId),
      );
      const now = run && (await waitForRun(db, watcher, run, wait));
      if (!now && (run || runId !== undefined)) throw notFound('conversation');
      return toAnswer(conversationId, now);
    },

    /** Cancels the run in progress, only if it is `runId` where that is given. Throws 412 if there is none. */
    cancel: async (by: By, { conversationId, runId }: { conversationId: string; runId?: string }) => {
      await check(by, conversationId);
      return db.tx(async (tx) => {
        const { active_run_id } = await lockConversation(tx, conversationId);
        const isOther = runId !== undefined && active_run_id !== runId;
        const run = isOther ? await findRun(tx, runId) : await cancelRun(tx, conversationId, by.actor);
        return toAnswer(conversationId, run);
      });
    },
  };
};
