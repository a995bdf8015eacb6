import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { testServices } from '../../tests/harness/services.ts';
import { readConfig } from '../config.ts';
import { sql } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { defaultSettings } from '../settings/settings.ts';
import { createFiles } from './index.ts';

eachDatabase((name, open) => {
  test('what a platform that was killed left of uploads is removed, and what rows refer to is kept', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ap-files-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const db = open();
    const files = createFiles(testServices(db, { config: readConfig({ DATA_DIR: dataDir }) }), {
      owners: [],
    });
    await mkdir(join(dataDir, 'tmp'));
    await writeFile(join(dataDir, 'tmp', 'upload-1'), 'x');
    const [kept, orphan, fresh] = [newId(), newId(), newId()];
    for (const id of [kept, orphan, fresh]) {
      await writeFile(join(dataDir, 'bytes'), id);
      await files.bytes.put(id, join(dataDir, 'bytes'));
    }
    await db.tx(async (tx) => {
      await sql`insert into files (id, work_item_id, name, content_type, size_bytes, sha256, created_by)
        values (${kept}, ${newId()}, 'a', 'text/plain', 1, '', 'x')`.execute(tx);
      await sql`update file_bytes set created_at = created_at - interval '2 hours' where file_id <> ${fresh}`.execute(
        tx,
      );
    });
    await files.start?.();
    expect(existsSync(join(dataDir, 'tmp'))).toBe(false);
    if (name === 'postgres') {
      const mark = () => db.tx((tx) => files.retention![0]!(tx, defaultSettings, 100));
      expect([await mark(), await mark()]).toEqual([1, 0]);
      const { rows } = await db.run((executor) => sql`select id from removed_files`.execute(executor));
      expect(rows).toEqual([{ id: orphan }]);
      return;
    }
    const folders = await readdir(join(dataDir, 'files'));
    const left = await Promise.all(folders.map((folder) => readdir(join(dataDir, 'files', folder))));
    expect(left.flat()).toEqual([kept]);
  });

  test.skipIf(name !== 'postgres')('what a replica keeps of recent files goes when it stops', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ap-files-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const config = readConfig({ DATA_DIR: dataDir });
    const files = createFiles(testServices(open(), { config }), { owners: [] });
    const [id, recent] = [newId(), join(dataDir, 'recent-files')];
    await writeFile(join(dataDir, 'bytes'), 'x');
    await files.bytes.put(id, join(dataDir, 'bytes'));
    expect(await readdir(recent)).toEqual([id]);
    await files.stop?.();
    expect(existsSync(recent)).toBe(false);
  });
});
