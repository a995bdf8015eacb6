import { z } from 'zod';
import { principalNames } from '../access/index.ts';
import { agentCalls } from '../agents/index.ts';
import type { Database, Executor, Page } from '../database/index.ts';
import {
  cursorOf,
  id,
  jsonRoute,
  listPage,
  pageOf,
  type Route,
  sortedPage,
  webRoute,
} from '../http/index.ts';
import { roles } from '../lib/principal.ts';
import {
  cutParts,
  findParts,
  messageDownload,
  messageList,
  rawContent,
  shownContent,
} from '../messages/index.ts';
import { shownApprovals } from '../runs/index.ts';
import { conversationFinder, getConversation } from './conversations.ts';
import { findContent, listAuthoredMessages } from './message-store.ts';
import { onePath } from './routes.ts';
import { findLastRun } from './run-store.ts';
import { conversationMessage, publicConversation, publicRun, toConversationResponse } from './schemas.ts';

const messagesOfPage = 50;

const shownMessage = conversationMessage
  .extend({
    ...shownContent,
    author_name: z
      .string()
      .nullable()
      .describe('Who began the run with this message; null for any other message, and if they are gone.'),
  })
  .meta({ id: 'ShownConversationMessage' });

const detail = publicConversation
  .extend({
    agent: z.object({
      id,
      name: z.string(),
      approval_role: z.enum(roles).describe('Who may decide on its tool calls: this role or a higher one.'),
    }),
    created_by_name: z.string().nullable().describe('null if they are gone.'),
    run: publicRun
      .omit({ messages: true, answer: true, usage: true })
      .extend({ message_id: id.describe('The message that began it.') })
      .meta({ id: 'ShownRun' })
      .nullable()
      .describe('The run that began last; null before the first message.'),
    messages: pageOf('FirstShownConversationMessages', shownMessage).describe('The first page of messages.'),
  })
  .meta({ id: 'ConversationDetail' });

/** Messages as the page shows them, newest first, one more than the limit. */
const listShownMessages = async (executor: Executor, conversationId: string, page: Page) => {
  const rows = await listAuthoredMessages(executor, conversationId, page);
  const names = await principalNames(
    executor,
    rows.flatMap(({ author }) => author ?? []),
  );
  return rows.map(({ author, content, ...row }) => ({
    ...row,
    ...cutParts(content),
    bytes: Buffer.byteLength(rawContent(content).text),
    author_name: author === null ? null : (names.get(author) ?? null),
  }));
};

const readDetail = async (
  executor: Executor,
  { agentId, conversation }: Awaited<ReturnType<typeof getConversation>>,
): Promise<z.input<typeof detail>> => {
  const { id, created_by } = conversation;
  const names = await principalNames(executor, [created_by]);
  const run = await findLastRun(executor, id);
  const { name, approval_role } = await agentCalls.getPinned(executor, agentId, run?.agent_version ?? null);
  const page = { limit: messagesOfPage, next: null };
  const messages = await listShownMessages(executor, id, page);
  return {
    ...toConversationResponse(conversation),
    agent: { id: agentId, name, approval_role },
    created_by_name: names.get(created_by) ?? null,
    run: run
      ? {
          ...run,
          review_id: run.open_review?.id ?? null,
          pending_approvals: shownApprovals(run.pending_approvals, run.open_review),
        }
      : null,
    messages: sortedPage(
      messages,
      page.limit,
      (message) => cursorOf(message.id),
      (message) => message,
    ),
  };
};

export const pageRoutes = (db: Database): Route[] => {
  const find = conversationFinder(db);
  const shared = { role: 'member', scope: 'conversations:read', base: 'app' } as const;
  return [
    jsonRoute({
      ...shared,
      id: 'getConversationDetail',
      request: `GET ${onePath}`,
      summary: 'Get a conversation with all that its page shows',
      description: 'With its last run and the first page of messages.',
      otherStatuses: [400],
      find,
      cache: 'content',
      response: detail,
      handler: ({ found, principal }) => {
        const wanted = { agentId: found.agentId, id: found.conversation.id, principal };
        // One transaction: the run, its state and the messages are of the same moment.
        return db.tx(async (tx) => readDetail(tx, await getConversation(tx, wanted)));
      },
    }),
    jsonRoute({
      ...shared,
      id: 'listShownConversationMessages',
      request: `GET ${onePath}/messages`,
      summary: 'List the messages of a conversation for a page',
      ...messageList,
      otherStatuses: [400],
      find,
      response: pageOf('ShownConversationMessagePage', shownMessage),
      handler: listPage(db, (executor, page, { found }) =>
        listShownMessages(executor, found.conversation.id, page),
      ),
    }),
    webRoute({
      ...shared,
      id: 'downloadConversationMessage',
      request: `GET ${onePath}/messages/{message_id}/content`,
      summary: 'Download the content of a message of a conversation',
      ...messageDownload,
      otherStatuses: [400],
      find: async (request) => {
        const { conversation } = await find(request);
        return findParts(db, request.params, (executor, id) => findContent(executor, conversation.id, id));
      },
    }),
  ];
};
