import { agentCalls } from '../agents/index.ts';
import type { Database, Executor, Tx } from '../database/index.ts';
import { badRequest, notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { type Principal, roleAllows } from '../lib/principal.ts';
import {
  type Conversation,
  findConversation,
  findLockedConversation,
  lockConversationForShare,
} from './store.ts';

/** The agent in the path. */
export interface FoundAgent {
  agentId: string;
}

/** The conversation in the path. */
export interface FoundConversation extends FoundAgent {
  conversation: Conversation;
}

interface PathRequest {
  params: Record<string, string>;
  principal: Principal;
}

/** Throws 404 if there is no such agent, 400 if it is a Worker agent. */
const findAgentOf = async (executor: Executor, id: string): Promise<FoundAgent> => {
  const agent = await agentCalls.get(executor, id);
  if (agent.mode !== 'conversational') {
    throw badRequest('Conversations exist only for conversational agents; this is a worker agent.');
  }
  return { agentId: agent.id };
};

/** Whose conversations the principal sees: the id of their owner, or null for all. */
export const ownerSeenBy = ({ role, id }: Principal): string | null =>
  roleAllows(role, 'builder') ? null : id;

const isSeenBy = (conversation: Conversation, principal: Principal): boolean =>
  [null, conversation.created_by].includes(ownerSeenBy(principal));

/**
 * Returns the conversation of an agent. Throws 404 for an unknown agent, 400 for a Worker agent, and 404 for a
 * conversation that does not exist or that a member did not create.
 */
export const getConversation = async (
  executor: Executor,
  { agentId, id, principal }: { agentId: string; id: string; principal: Principal },
): Promise<FoundConversation> => {
  const found = await findAgentOf(executor, agentId);
  const conversation = isId(id) ? await findConversation(executor, id) : undefined;
  if (conversation?.agent_id !== found.agentId || !isSeenBy(conversation, principal)) {
    throw notFound('conversation');
  }
  return { ...found, conversation };
};

/** The `find` of routes below an agent. */
export const agentFinder =
  (db: Database) =>
  ({ params }: PathRequest): Promise<FoundAgent> =>
    db.run((executor) => findAgentOf(executor, params.agent_id!));

/** The `find` of routes below a conversation. */
export const conversationFinder =
  (db: Database) =>
  ({ params, principal }: PathRequest): Promise<FoundConversation> =>
    db.run((executor) =>
      getConversation(executor, { agentId: params.agent_id!, id: params.conversation_id!, principal }),
    );

/** Keeps the conversation from being deleted before the transaction ends. Throws 404 if it is gone. */
export const keepConversation = async (tx: Tx, id: string): Promise<void> => {
  if (!(await lockConversationForShare(tx, id))) throw notFound('conversation');
};

/** Returns the conversation, locked until the transaction ends. Throws 404 if it is gone. */
export const lockConversation = async (tx: Tx, id: string): Promise<Conversation> => {
  const conversation = await findLockedConversation(tx, id);
  if (!conversation) throw notFound('conversation');
  return conversation;
};
