import type { Database, Executor } from '../database/index.ts';
import { download, downloadDocument, pageQuery, type WebContext } from '../http/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { rawContent } from './content.ts';
import type { MessagePart } from './messages.ts';

/** Parts of the routes that list messages for a page. */
export const messageList = {
  description: 'Newest first. A long content is cut; its own address has all of it.',
  query: pageQuery,
  cache: 'content',
} as const;

/** Parts of the routes that download one message. `find` loads the parts of the message that the path names. */
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
