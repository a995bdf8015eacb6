import { mkdir } from 'node:fs/promises';
import { insertFrame, listAllFrames } from '../../data-frames/index.ts';
import { sql, type Tx } from '../../database/index.ts';
import { fileCalls, type OwnerIds } from '../../files/index.ts';
import { notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { type CaseContent, caseOwner } from '../cases/content.ts';
import { type CopyParts, copyBytes } from '../cases/copies.ts';
import type { Entry } from './tape.ts';

/** The data frames of trials: copies of those of their cases. */

export const trialOwner = (trialId: string): OwnerIds => ({
  conversation_id: null,
  work_item_id: null,
  trial_id: trialId,
});

/** Keeps the trial from being deleted before the transaction ends. Throws 404 if it is gone. */
export const keepTrial = async (tx: Tx, { trial_id }: OwnerIds): Promise<void> => {
  const { rows } = await sql`select from trials where id = ${trial_id} for key share`.execute(tx);
  if (rows.length === 0) throw notFound('trial');
};

type Frame = Awaited<ReturnType<typeof listAllFrames>>[number];

/** Copies a data frame of the case under its name; one of that name is replaced. */
const copyFrame = async (parts: CopyParts, trialId: string, frame: Frame): Promise<void> => {
  const id = newId();
  const owner = trialOwner(trialId);
  await mkdir(parts.folder, { recursive: true, mode: 0o700 });
  await copyBytes(parts, frame.id, id);
  try {
    await parts.db.tx(async (tx) => {
      await keepTrial(tx, owner);
      await fileCalls.lockNames(tx, owner);
      await sql`delete from data_frames where trial_id = ${trialId} and name = ${frame.name}`.execute(tx);
      await insertFrame(tx, { ...frame, case_id: null, ...owner, id } as Parameters<typeof insertFrame>[1]);
    });
  } catch (error) {
    await fileCalls.dropBytes(parts.bytes, id, error);
    throw error;
  }
};

/**
 * The data frames of a trial that begins: those that the case had before its run began. `restore` adds the one that a
 * recorded call made.
 */
export const openFrames = async (
  parts: CopyParts,
  trialId: string,
  { case_id, made }: Pick<CaseContent, 'case_id' | 'made'>,
): Promise<{ restore(entry: Pick<Entry, 'made'>): Promise<void> }> => {
  const { db } = parts;
  // A lost worker may have left some.
  await db.tx((tx) => sql`delete from data_frames where trial_id = ${trialId}`.execute(tx));
  const frames = await db.run((executor) => listAllFrames(executor, caseOwner(case_id)));
  const later = new Set(made.map(({ data_frame }) => data_frame));
  for (const frame of frames) if (!later.has(frame.name)) await copyFrame(parts, trialId, frame);
  return {
    restore: async (entry) => {
      const frame = frames.find(({ name }) => name === entry.made);
      if (frame) await copyFrame(parts, trialId, frame);
    },
  };
};
