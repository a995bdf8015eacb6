import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { folderFault } from '../../src/database/index.ts';
import { ConfigError } from '../../src/lib/config-error.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { startPlatform } from '../../src/platform.ts';

const user = `user ${process.getuid?.()}`;
const start = (dataDir: string) =>
  startPlatform(readConfig({ PORT: '0', DATA_DIR: dataDir }), { log: silentLogger });
const isRoot = process.getuid?.() === 0;

test('a start in a folder that cannot be written names the folder, the user and the cure', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ap-folder-'));
  try {
    await writeFile(join(folder, 'file'), '');
    const below = join(folder, 'file', 'data');
    const refused = start(below);
    await expect(refused).rejects.toBeInstanceOf(ConfigError);
    await expect(refused).rejects.toThrow(`DATA_DIR: ${below} cannot be written by ${user}`);
    await expect(start(join(folder, 'file'))).rejects.toThrow(
      '(EEXIST). It is a file, or set another DATA_DIR.',
    );
    const taken = join(folder, 'taken');
    await mkdir(taken);
    await chmod(taken, 0o500);
    if (!isRoot) await expect(start(taken)).rejects.toThrow(`cannot be written by ${user}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test.each([
  [
    'EACCES',
    /^DATA_DIR: \/srv\/data cannot be written by user .+ \(EACCES\)\. .*chown -R \d+:\d+ \/srv\/data/,
  ],
  ['EROFS', /read-only: mount a volume there, or set another DATA_DIR\.$/],
  ['ENOSPC', /disk is full: make room/],
])('%s anywhere below the folder is such a refusal', (code, message) => {
  for (const path of ['/srv/data', '/srv/data/', '/srv/data/telemetry/replica-id'])
    expect(folderFault('/srv/data', Object.assign(new Error('x'), { code, path }))?.message).toMatch(message);
  for (const path of ['/srv', '/srv/database', undefined])
    expect(folderFault('/srv/data', Object.assign(new Error('x'), { code, path }))).toBeNull();
});
