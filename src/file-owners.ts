import { getConversation, keepConversation } from './conversations/index.ts';
import type { Database } from './database/index.ts';
import type { OwnerKind } from './files/index.ts';
import { workItemCalls } from './work-items/index.ts';

/** The kinds of owners of files and data frames. */
export const fileOwners = (db: Database): readonly OwnerKind[] => [
  {
    name: 'Conversation',
    text: 'conversation',
    path: '/agents/{agent_id}/conversations/{conversation_id}',
    scope: { read: 'conversations:read', write: 'conversations' },
    find: ({ params, principal }) =>
      db.run(async (executor) => {
        const [agentId, id] = [params.agent_id!, params.conversation_id!];
        const { conversation } = await getConversation(executor, { agentId, id, principal });
        return { ids: { conversation_id: conversation.id, work_item_id: null }, agentId };
      }),
    lock: (tx, { conversation_id }) => keepConversation(tx, conversation_id!),
    lockForFiles: (tx, { conversation_id }) => keepConversation(tx, conversation_id!),
  },
  {
    name: 'WorkItem',
    text: 'Work Item',
    path: '/work-items/{work_item_id}',
    scope: { read: 'work_items:read', write: 'work_items' },
    find: ({ params }) =>
      db.run(async (executor) => {
        const { id, agent_id } = await workItemCalls.get(executor, params.work_item_id!);
        return { ids: { conversation_id: null, work_item_id: id }, agentId: agent_id };
      }),
    lock: (tx, { work_item_id }) => workItemCalls.keep(tx, work_item_id!),
    lockForFiles: (tx, { work_item_id }) => workItemCalls.lockDraft(tx, work_item_id!),
  },
];
