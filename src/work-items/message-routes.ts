import { z } from 'zod';
import type { Database, Executor } from '../database/index.ts';
import {
  download,
  downloadDocument,
  finder,
  jsonRoute,
  listPage,
  pageOf,
  type Route,
  webRoute,
} from '../http/index.ts';
import { notFound } from '../lib/errors.ts';
import { findParts, messageDownload, messageList, shownContent } from '../messages/index.ts';
import { listAttempts } from './attempt-store.ts';
import { findMessageParts, findRawValue, listShownMessages } from './message-store.ts';
import { publicMessage } from './schemas.ts';
import { findWorkItemId } from './store.ts';

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
