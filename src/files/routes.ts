import { z } from 'zod';
import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import {
  downloadRoute,
  id,
  jsonRoute,
  listPage,
  pageOf,
  pageQuery,
  type Route,
  timestamp,
  type UploadSpec,
  uploadRoute,
} from '../http/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { FileBytes } from './bytes.ts';
import { keepUpload, withoutNull } from './files.ts';
import type { OwnerKind } from './owners.ts';
import { deleteFile, findFile, listFiles, type OwnerIds, type StoredFile } from './store.ts';

const publicFile = z
  .object({
    id,
    conversation_id: id.nullable().describe('Null for a file of a Work Item.'),
    work_item_id: id.nullable().describe('Null for a file of a conversation.'),
    name: z.string().describe('Unique in the conversation or Work Item.'),
    content_type: z.string().describe('What the bytes are; for text what the extension of the name says.'),
    size_bytes: z.int(),
    sha256: z.string().describe('Of the bytes, in hex.'),
    created_by: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'PublicFile' });

interface Parts {
  db: Database;
  bytes: FileBytes;
  upload: UploadSpec;
}

/** The files of one kind of owner. */
export const fileRoutes = ({ db, bytes, upload }: Parts, kind: OwnerKind): Route[] => {
  const path = `${kind.path}/files`;
  const onePath = `${path}/{file_id}`;
  const find = async (request: Parameters<OwnerKind['find']>[0]): Promise<OwnerIds> =>
    (await kind.find(request)).ids;
  const findOne = async (request: Parameters<OwnerKind['find']>[0]): Promise<StoredFile> => {
    const owner = await find(request);
    const fileId = request.params.file_id!;
    const file = isId(fileId) ? await db.run((executor) => findFile(executor, owner, fileId)) : undefined;
    if (!file) throw notFound('file');
    return file;
  };
  const shared = { role: 'member', base: 'v2', otherStatuses: [400] } as const;
  return [
    jsonRoute({
      ...shared,
      id: `list${kind.name}Files`,
      scope: kind.scope.read,
      request: `GET ${path}`,
      summary: `List the files of a ${kind.text}`,
      find,
      query: pageQuery,
      response: pageOf(`${kind.name}FilePage`, publicFile),
      handler: listPage(db, (executor, page, { found }) => listFiles(executor, found, page)),
    }),
    uploadRoute({
      ...shared,
      id: `create${kind.name}File`,
      scope: kind.scope.write,
      request: `POST ${path}`,
      summary: `Upload a file to a ${kind.text}`,
      description: 'A name that is taken gets a number: `report (2).pdf`.',
      otherStatuses: kind.name === 'WorkItem' ? [400, 412] : [400],
      find,
      upload,
      response: publicFile,
      handler: ({ found, upload: file, actor, transaction }) =>
        keepUpload({ db, bytes }, { kind, owner: found, upload: file, actor }, transaction),
    }),
    jsonRoute({
      ...shared,
      id: `get${kind.name}File`,
      scope: kind.scope.read,
      request: `GET ${onePath}`,
      summary: `Get a file of a ${kind.text}`,
      find: findOne,
      response: publicFile,
      handler: async ({ found }) => found,
    }),
    downloadRoute({
      ...shared,
      id: `download${kind.name}File`,
      scope: kind.scope.read,
      request: `GET ${onePath}/content`,
      summary: `Download a file of a ${kind.text}`,
      find: findOne,
      handler: async ({ found }) => ({
        name: found.name,
        contentType: found.content_type,
        size: found.size_bytes,
        tag: found.sha256,
        bytes: () => bytes.read(found.id),
      }),
    }),
    jsonRoute({
      ...shared,
      id: `delete${kind.name}File`,
      scope: kind.scope.write,
      request: `DELETE ${onePath}`,
      summary: `Delete a file of a ${kind.text}`,
      description: 'Data frames that were made of it stay.',
      otherStatuses: kind.name === 'WorkItem' ? [400, 412] : [400],
      find: findOne,
      handler: ({ found, transaction, actor }) =>
        transaction(async (tx) => {
          await kind.lockForFiles(tx, found);
          if (!(await deleteFile(tx, found.id))) throw notFound('file');
          await audit(tx, actor, 'file.delete', found.id, { ...withoutNull(found), name: found.name });
        }),
    }),
  ];
};
