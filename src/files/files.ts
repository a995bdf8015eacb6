import { join } from 'node:path';
import { audit } from '../audit/index.ts';
import { advisoryRowLock, type Database, type Tx } from '../database/index.ts';
import type { Upload, UploadSpec } from '../http/index.ts';
import { ApiError, badRequest } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { type CurrentSettings, readSettings } from '../settings/index.ts';
import type { FileBytes } from './bytes.ts';
import { contentTypeOf } from './content-type.ts';
import { cleanName, freeName } from './names.ts';
import type { OwnerKind } from './owners.ts';
import { insertFile, listFileNames, type OwnerIds, ownerOf, type StoredFile } from './store.ts';

const megabyte = 1024 * 1024;

/** The files and frames of one owner are named and counted by one transaction at a time. */
export const lockNames = (tx: Tx, owner: OwnerIds): Promise<void> =>
  advisoryRowLock(tx, 'files of an owner', ownerOf(owner).id);

/** The folder in which files wait that are not kept yet. Nothing of it survives a start. */
export const waitingFolder = (dataDir: string): string => join(dataDir, 'tmp');

/** The upload of a form with a file. */
export const fileUpload = (
  dataDir: string,
  settings: CurrentSettings,
  fields: UploadSpec['fields'],
): UploadSpec => ({
  folder: waitingFolder(dataDir),
  maxBytes: () => settings.get().MAX_FILE_SIZE_IN_MB * megabyte,
  setting: 'MAX_FILE_SIZE_IN_MB',
  fields,
});

const checkNumber = async (tx: Tx, files: number): Promise<void> => {
  const { MAX_FILES_PER_CONVERSATION: most } = await readSettings(tx);
  if (files < most) return;
  throw badRequest(`There are ${files} files already; the maximum is ${most}.`, {
    setting: 'MAX_FILES_PER_CONVERSATION',
  });
};

/** Throws what would be thrown after the bytes are kept, before they are. */
const checkFirst = (db: Database, kind: OwnerKind, owner: OwnerIds): Promise<void> =>
  db.tx(async (tx) => {
    await kind.lockForFiles(tx, owner);
    await checkNumber(tx, (await listFileNames(tx, owner)).size);
  });

/**
 * Keeps an uploaded file. Its bytes come first, without a transaction, then its row, which gives it a free name; bytes
 * without a row are removed.
 */
export const keepUpload = async (
  { db, bytes }: { db: Database; bytes: FileBytes },
  { kind, owner, upload, actor }: { kind: OwnerKind; owner: OwnerIds; upload: Upload; actor: Actor },
  transaction: <T>(fn: (tx: Tx) => Promise<T>) => Promise<T>,
): Promise<StoredFile> => {
  await checkFirst(db, kind, owner);
  const wanted = cleanName(upload.fields.name ?? upload.filename);
  // The type follows the extension, which a number in the name does not change.
  const contentType = await contentTypeOf(upload.path, wanted);
  const id = newId();
  await bytes.put(id, upload.path);
  try {
    return await transaction(async (tx) => {
      await kind.lockForFiles(tx, owner);
      await lockNames(tx, owner);
      const names = await listFileNames(tx, owner);
      await checkNumber(tx, names.size);
      const file = await insertFile(tx, {
        ...owner,
        id,
        name: freeName(wanted, (name) => names.has(name)),
        content_type: contentType,
        size_bytes: upload.size,
        sha256: upload.sha256,
        created_by: actor.principal.id,
      });
      const { name, content_type, size_bytes, sha256 } = file;
      await audit(tx, actor, 'file.create', id, {
        ...withoutNull(owner),
        name,
        content_type,
        size_bytes,
        sha256,
      });
      return file;
    });
  } catch (error) {
    await dropBytes(bytes, id, error);
    throw error;
  }
};

/**
 * Removes bytes whose row was not written because of `error`. If the database went away, the row may be there: then the
 * bytes stay, and are removed later if nothing refers to them.
 */
export const dropBytes = async (bytes: FileBytes, id: string, error: unknown): Promise<void> => {
  const isUnknown = error instanceof ApiError && error.code === 'service_unavailable';
  if (!isUnknown) await bytes.remove([id]);
};

/** The owner's id under its name, for the audit log. */
export const withoutNull = (owner: OwnerIds): Record<string, string> => {
  const { key, id } = ownerOf(owner);
  return { [key]: id };
};
