import { rm, stat } from 'node:fs/promises';
import { audit } from '../audit/index.ts';
import type { Tx } from '../database/index.ts';
import { fileCalls, type OwnerIds, withoutNull } from '../files/index.ts';
import { badRequest, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import { freeFrameName, freeResultName } from './names.ts';
import type { FrameParts } from './parts.ts';
import { type DataFrame, deleteFrame, type FrameHead, insertFrame, listFrameNames } from './store.ts';

/** The output of a job. */
type Made = Pick<DataFrame, 'columns' | 'row_count' | 'truncated' | 'warnings'> & { head: FrameHead };

/** Who makes a frame: a caller of the API, whom the audit log names, or an agent. */
type Maker = { actor: Actor } | { agentId: string };

/** The owner and the name of a frame. */
export interface Target {
  owner: OwnerIds;
  /** Keeps the owner from being deleted; throws 404 if it is gone. */
  lock: (tx: Tx, owner: OwnerIds) => Promise<void>;
  maker: Maker;
  /** Null: a free name, after `like` or `result_n`. */
  name: string | null;
  like?: string;
  /** The field of the body that has the name. */
  nameField: string;
  description: string | null;
  /** It replaces a frame with its name. */
  replace: boolean;
}

/**
 * The name that the frame gets. Throws 422 if it is taken, and 400 if there are too many frames. Checked before the frame
 * is made, so that nothing is made in vain, and again under the lock of the names.
 */
export const checkTarget = async (tx: Tx, target: Target): Promise<string> => {
  const { owner, name, like, nameField, replace } = target;
  await target.lock(tx, owner);
  const names = await listFrameNames(tx, owner);
  if (name !== null && names.has(name)) {
    if (replace) return name;
    throw unprocessable([
      {
        path: nameField,
        message: `there is a data frame \`${name}\` already; use \`replace\` or another name`,
      },
    ]);
  }
  const { MAX_DATA_FRAMES_PER_CONVERSATION: most } = await readSettings(tx);
  if (names.size >= most) {
    throw badRequest(`There are ${names.size} data frames already; the maximum is ${most}.`, {
      setting: 'MAX_DATA_FRAMES_PER_CONVERSATION',
    });
  }
  return name ?? (like === undefined ? freeResultName(names) : freeFrameName(like, names));
};

/** Keeps what a job made: the Parquet file at `path`, then its row. What it replaces is there until then. */
export const keepFrame = async (
  { db, bytes }: FrameParts,
  target: Target,
  made: Made,
  path: string,
  source: Record<string, unknown>,
): Promise<DataFrame> => {
  const { owner, maker, description } = target;
  const id = newId();
  const { size } = await stat(path);
  await bytes.put(id, path);
  try {
    return await db.tx(async (tx) => {
      await fileCalls.lockNames(tx, owner);
      const name = await checkTarget(tx, target);
      await deleteFrame(tx, owner, name);
      const row = {
        ...owner,
        id,
        name,
        description,
        source,
        columns: made.columns,
        row_count: made.row_count,
        size_bytes: size,
        truncated: made.truncated,
        warnings: made.warnings,
        created_by: 'actor' in maker ? maker.actor.principal.id : maker.agentId,
      };
      const frame = await insertFrame(tx, row, made.head);
      if ('actor' in maker) {
        const { kind, semantic_data_model_id } = source;
        const from = { kind, ...(semantic_data_model_id ? { semantic_data_model_id } : {}) };
        const details = { ...withoutNull(owner), name, row_count: made.row_count, source: from };
        await audit(tx, maker.actor, 'data_frame.create', id, details);
      }
      return frame;
    });
  } catch (error) {
    await fileCalls.dropBytes(bytes, id, error);
    throw error;
  } finally {
    await rm(path, { force: true });
  }
};
