import { z } from 'zod';
import type { Database, Executor } from '../database/index.ts';
import {
  download,
  downloadDocument,
  finder,
  jsonRoute,
  listPage,
  pageOf,
  pageQuery,
  type Route,
  type WebContext,
  webRoute,
} from '../http/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { listAttempts } from './attempt-store.ts';
import { rawContent } from './content.ts';
import { findMessageParts, findRawValue, listShownMessages } from './message-store.ts';
import type { MessagePart } from './messages.ts';
import { messagePart, publicMessage } from './schemas.ts';
import { findWorkItemId } from './store.ts';

const cut = z
  .literal(true)
  .optional()
  .describe('Only the beginning is there. Arguments that are cut are the beginning of their JSON text.');

/** The content of a message on a page: its beginning, if it is long. */
export const shownContent = {
  content: z.array(z.intersection(messagePart, z.object({ cut }))),
  bytes: z.int().describe('The size of the whole content as it is downloaded.'),
  cut: z.boolean().describe('Whether the content is cut, after 16 KB.'),
};

export const shownMessage = publicMessage
  .extend({
    seq: z.int().describe('Its place among all that happened to the Work Item.'),
    attempt: z
      .int()
      .nullable()
      .describe('The attempt that wrote it, or the last one before; null before the first.'),
    ...shownContent,
  })
  .meta({ id: 'ShownMessage' });

/** The routes of messages on a page: a list, and the whole content of one. */
export const messageList = {
  description: 'Newest first. A long content is cut; its own address has all of it.',
  query: pageQuery,
  cache: 'content',
} as const;

/** `find` loads the parts of the message that the path names. */
export const messageDownload = {
  description: 'A single text as it is, anything else as JSON. A `Range` of bytes is honored.',
  document: downloadDocument,
  handler: async ({ found, params, headers }: WebContext<MessagePart[]>) => {
    const { text, type } = rawContent(found);
    const ending = type === 'text/plain' ? 'txt' : 'json';
    return download({ text, type, name: `message-${params.message_id}.${ending}` }, headers.range);
  },
};

/** The parts of the message that the path names; throws 404 if `read` finds none. */
export const findParts = async (
  db: Database,
  { message_id: id }: Record<string, string>,
  read: (executor: Executor, id: string) => Promise<MessagePart[] | undefined>,
): Promise<MessagePart[]> => {
  const parts = isId(id!) ? await db.run((executor) => read(executor, id!)) : undefined;
  if (!parts) throw notFound('message');
  return parts;
};

const path = '/work-items/{work_item_id}';

export const messageRoutes = (db: Database): Route[] => {
  const find = finder(db, 'Work Item', 'work_item_id', findWorkItemId);
  const shared = { role: 'member', scope: 'work_items:read', base: 'app' } as const;

  const valueRoute = (column: 'payload' | 'result'): Route =>
    webRoute({
      ...shared,
      id: `downloadWorkItem${column === 'payload' ? 'Payload' : 'Result'}`,
      request: `GET ${path}/${column}`,
      summary: `Download the ${column} of a Work Item`,
      description: 'A text as it is, anything else as JSON. A `Range` of bytes is honored.',
      find,
      document: downloadDocument,
      handler: async ({ found: { id }, headers }) => {
        const value = await db.run((executor) => findRawValue(executor, id, column));
        if (!value) throw notFound(column);
        const { text, isText } = value;
        const [type, ending] = isText ? ['text/plain', 'txt'] : ['application/json', 'json'];
        return download({ text, type, name: `${column}-${id}.${ending}` }, headers.range);
      },
    });

  return [
    jsonRoute({
      ...shared,
      id: 'listShownMessages',
      request: `GET ${path}/messages`,
      summary: 'List the messages of a Work Item for a page',
      ...messageList,
      find,
      response: pageOf('ShownMessagePage', shownMessage),
      handler: listPage(db, async (executor: Executor, page, { found: { id } }) =>
        listShownMessages(executor, id, await listAttempts(executor, id), page),
      ),
    }),
    webRoute({
      ...shared,
      id: 'downloadMessage',
      request: `GET ${path}/messages/{message_id}/content`,
      summary: 'Download the content of a message',
      ...messageDownload,
      find: async ({ params }) => {
        const { id } = await find({ params });
        return findParts(db, params, (executor, messageId) => findMessageParts(executor, id, messageId));
      },
    }),
    valueRoute('payload'),
    valueRoute('result'),
  ];
};
