import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendForm } from '../contract/files-fixture.ts';
import { scan, textPdf } from '../harness/documents.ts';
import { client } from '../harness/http.ts';
import { type Images, imagePrograms, makeBaseImages } from '../harness/image.ts';
import { adminKey } from '../harness/process.ts';
import { whySkipped } from '../harness/programs.ts';
import { until } from '../harness/wait.ts';
import { freePort } from '../harness/watchdog.ts';

const root = join(import.meta.dirname, '../..');
const isThere = Object.values(imagePrograms).every((one) => one !== null);

/** The platform's process below the one of buildah; it has children of its own. */
const platformBelow = (pid: number): number => {
  if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('bin/start.js')) return pid;
  // By threads: any of them may have started it.
  const [child] = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
  if (!child) throw new Error('the platform does not run');
  return platformBelow(Number(child));
};

describe.skipIf(!isThere)(`the image${whySkipped(imagePrograms)}`, () => {
  let folder: string;
  let images: Images;
  let container: string;
  let platform: ChildProcess;
  let origin: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ap-image-'));
    images = await makeBaseImages(folder);
    const bases = ['NODE=localhost/node', 'DEBIAN=localhost/debian'];
    const given = bases.flatMap((base) => ['--build-arg', base]);
    await images.buildah('build', ...given, '--tag', 'localhost/agent-platform', root);
    container = (await images.buildah('from', 'localhost/agent-platform')).trim();
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    const env = ['HOST=127.0.0.1', `PORT=${port}`, `BOOTSTRAP_ADMIN_API_KEY=${adminKey}`];
    const command = [container, '--', 'node', 'bin/start.js'];
    platform = images.start('run', ...env.flatMap((one) => ['--env', one]), ...command);
    await until(async () => (await fetch(`${origin}/readyz`)).ok, 120_000);
  }, 3_600_000);
  afterAll(async () => {
    if (platform?.exitCode === null) {
      process.kill(platformBelow(platform.pid!), 'SIGKILL');
      await once(platform, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  });

  test('is at most 450 MB', async () => {
    const [image] = JSON.parse(await images.buildah('images', '--json', 'localhost/agent-platform'));
    const [size, unit] = image.size.split(' ');
    expect(unit).toBe('MB');
    expect(Number(size)).toBeLessThanOrEqual(450);
  });

  test('serves the API and the application, as a user without rights', async () => {
    const api = client(`${origin}/api/v2`, adminKey);
    expect((await api.post('/agents', { name: 'Night clerk', mode: 'worker' })).status).toBe(200);
    const page = await fetch(origin, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('<script type="module"');
    expect((await images.buildah('run', container, '--', 'id', '-u')).trim()).toBe('1000');
  });

  test('has what files and documents need: pages, recognized text, tables, SQL', async () => {
    const api = client(`${origin}/api/v2`, adminKey);
    const schema = JSON.stringify({
      type: 'object',
      properties: { invoice_number: { type: 'string' } },
      required: ['invoice_number'],
    });
    const extract = (filename: string, content: Uint8Array) =>
      sendForm(api, '/document-intelligence/extract', [
        { name: 'schema', content: schema },
        { name: 'file', filename, content },
      ]);
    const lines = ['Acme Ltd.', 'Invoice number: INV-2041'];
    for (const [name, content] of [
      ['text.pdf', textPdf(lines)],
      ['scan.png', scan(lines).bytes],
    ] as const)
      expect((await extract(name, content)).body.data, name).toEqual({ invoice_number: 'INV-2041' });
    const agent = await api.post('/agents', { name: 'Reader', mode: 'conversational' });
    const conversations = `/agents/${agent.body.id}/conversations`;
    const path = `${conversations}/${(await api.post(conversations, {})).body.id}`;
    const file = await sendForm(api, `${path}/files`, [
      { name: 'file', filename: 'a.csv', content: 'month,total\nMay,12\nJune,30' },
    ]);
    const source = { kind: 'file', file_id: file.body.id };
    expect((await api.post(`${path}/data-frames`, { name: 'a', source })).status).toBe(200);
    const sql = 'select sum(total) as total from a';
    expect((await api.post(`${path}/data-frames/query`, { sql })).body.rows).toEqual([[42]]);
  });

  test('stops with exit code 0', async () => {
    // buildah passes no signal on.
    process.kill(platformBelow(platform.pid!), 'SIGTERM');
    expect(await once(platform, 'exit')).toEqual([0, null]);
  });
});
