import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Feature, Services } from '../feature.ts';
import type { FileBytes } from './bytes.ts';
import { listReferred, markOrphans } from './bytes-store.ts';
import { fileUpload, waitingFolder } from './files.ts';
import { folderBytes, sweepFolder } from './folder-bytes.ts';
import type { OwnerKind } from './owners.ts';
import { RecentBytes } from './recent-bytes.ts';
import { removalLoop, removedChannel } from './removal.ts';
import { fileRoutes } from './routes.ts';
import { rowBytes } from './row-bytes.ts';

export type { FileBytes } from './bytes.ts';
export { fileCalls } from './calls.ts';
export { contentTypeOf } from './content-type.ts';
export { fileUpload, waitingFolder, withoutNull } from './files.ts';
export { cleanName } from './names.ts';
export type { OwnerKind } from './owners.ts';
export { removedChannel } from './removal.ts';
export { type OwnerIds, ownedBy, type StoredFile } from './store.ts';

export interface Files extends Feature {
  bytes: FileBytes;
}

/** Files of conversations and Work Items. */
export const createFiles = (services: Services, { owners }: { owners: readonly OwnerKind[] }): Files => {
  const { db, config, settings, log } = services;
  const folder = join(config.dataDir, 'files');
  const recent = new RecentBytes(join(config.dataDir, 'recent-files'));
  const bytes = db.kind === 'embedded' ? folderBytes(folder) : rowBytes(db, recent);
  const upload = fileUpload(config.dataDir, settings, {
    name: 'The name of the file, instead of the one that the part `file` has.',
  });
  const removal = removalLoop(db, bytes, log);
  return {
    bytes,
    tag: { name: 'Files', description: 'Files of conversations and Work Items.' },
    routes: owners.flatMap((kind) => fileRoutes({ db, bytes, upload }, kind)),
    retention: [(tx, _settings, limit) => markOrphans(tx, limit)],
    start: async () => {
      await rm(waitingFolder(config.dataDir), { recursive: true, force: true });
      await recent.clear();
      db.listen(removedChannel, () => removal.wake());
      if (db.kind === 'postgres') return;
      await sweepFolder(folder, (ids) => db.run((executor) => listReferred(executor, ids)));
    },
    stop: () => recent.clear(),
    loops: [{ start: () => void removal.start(), stop: () => removal.stop(), pass: () => removal.pass() }],
  };
};
