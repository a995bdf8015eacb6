import { agentCalls } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import { type Database, notify } from '../database/index.ts';
import { jsonRoute, listPage, pageOf, pageOrOffsetQuery, pageQuery, type Route } from '../http/index.ts';
import { notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { reviewCalls } from '../reviews/index.ts';
import { agentFinder, conversationFinder, lockConversation, ownerSeenBy } from './conversations.ts';
import { deleteEvents } from './event-store.ts';
import { listMessages } from './message-store.ts';
import { runCancelsChannel } from './run-store.ts';
import {
  conversationMessage,
  createBody,
  publicConversation,
  toConversationResponse,
  updateBody,
} from './schemas.ts';
import { deleteConversation, insertConversation, listConversations, updateConversation } from './store.ts';

const path = '/agents/{agent_id}/conversations';
export const onePath = `${path}/{conversation_id}`;

export const conversationRoutes = (db: Database): Route[] => {
  const findAgent = agentFinder(db);
  const find = conversationFinder(db);
  return [
    jsonRoute({
      id: 'listConversations',
      role: 'member',
      scope: 'conversations:read',
      request: `GET ${path}`,
      summary: 'List conversations',
      description: 'A member sees its own, builders and administrators see all.',
      otherStatuses: [400],
      find: findAgent,
      query: pageOrOffsetQuery,
      response: pageOf('ConversationPage', publicConversation),
      handler: listPage(
        db,
        (executor, { offset, ...page }, { found, principal }) => {
          if (page.next !== null && offset !== undefined) {
            throw unprocessable([{ path: 'offset', message: 'cannot be used together with next' }]);
          }
          const filter = { agentId: found.agentId, createdBy: ownerSeenBy(principal) };
          return listConversations(executor, filter, { ...page, offset: offset ?? 0 });
        },
        toConversationResponse,
      ),
    }),
    jsonRoute({
      id: 'createConversation',
      role: 'member',
      scope: 'conversations',
      request: `POST ${path}`,
      summary: 'Create a conversation',
      find: findAgent,
      body: { schema: createBody, optional: true },
      response: publicConversation,
      idempotent: true,
      cache: 'revision',
      handler: ({ found, body, transaction, etag, actor }) =>
        transaction(async (tx) => {
          if (!(await agentCalls.lockForShare(tx, found.agentId))) throw notFound('agent');
          const id = newId();
          await insertConversation(tx, {
            ...body,
            id,
            agent_id: found.agentId,
            created_by: actor.principal.id,
          });
          await audit(tx, actor, 'conversation.create', id, { agent_id: found.agentId });
          const conversation = await lockConversation(tx, id);
          etag(conversation.revision);
          return toConversationResponse(conversation);
        }),
    }),
    jsonRoute({
      id: 'getConversation',
      role: 'member',
      scope: 'conversations:read',
      request: `GET ${onePath}`,
      summary: 'Get a conversation',
      otherStatuses: [400],
      find,
      response: publicConversation,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.conversation.revision);
        return toConversationResponse(found.conversation);
      },
    }),
    jsonRoute({
      id: 'updateConversation',
      role: 'member',
      scope: 'conversations',
      request: `PATCH ${onePath}`,
      summary: 'Update a conversation',
      find,
      body: updateBody,
      response: publicConversation,
      cache: 'revision',
      lock: (tx, { found }) => lockConversation(tx, found.conversation.id),
      handler: ({ body, transaction, etag, actor }) =>
        transaction(async (tx, before) => {
          const { id } = before;
          await updateConversation(tx, {
            id,
            name: body.name === undefined ? before.name : body.name,
            metadata: body.metadata ?? before.metadata,
          });
          await audit(tx, actor, 'conversation.update', id, { changed: Object.keys(body) });
          const after = await lockConversation(tx, id);
          etag(after.revision);
          return toConversationResponse(after);
        }),
    }),
    jsonRoute({
      id: 'deleteConversation',
      role: 'member',
      scope: 'conversations',
      request: `DELETE ${onePath}`,
      summary: 'Delete a conversation',
      description: 'Its messages and runs are deleted as well. A run in progress is cancelled.',
      find,
      lock: (tx, { found }) => lockConversation(tx, found.conversation.id),
      handler: ({ found, transaction, actor }) =>
        transaction(async (tx, { id, active_run_id }) => {
          if (active_run_id !== null) await notify(tx, runCancelsChannel, active_run_id);
          await reviewCalls.close(tx, 'conversation_id', [id], actor.principal);
          await deleteEvents(tx, id);
          await deleteConversation(tx, id);
          await audit(tx, actor, 'conversation.delete', id, { agent_id: found.agentId });
        }),
    }),
    jsonRoute({
      id: 'listMessages',
      role: 'member',
      scope: 'conversations:read',
      request: `GET ${onePath}/messages`,
      summary: 'List the messages of a conversation',
      otherStatuses: [400],
      find,
      query: pageQuery,
      response: pageOf('ConversationMessagePage', conversationMessage),
      handler: listPage(db, (executor, page, { found }) =>
        listMessages(executor, found.conversation.id, page),
      ),
    }),
  ];
};
