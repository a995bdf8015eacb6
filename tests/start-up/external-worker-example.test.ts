import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { newAgent, newKey, ok, startFixture } from '../contract/fixture.ts';
import { until } from '../harness/wait.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The compiler options of the project for the example; the generated client also uses names of browsers. */
const tsconfig = {
  extends: join(root, 'tsconfig.json'),
  compilerOptions: { lib: ['esnext', 'dom', 'dom.iterable'] },
  include: ['examples/external-worker.ts'],
};

test('the example of an external worker is made by the documented commands, type-checks, executes and stops', async () => {
  const source = join(root, 'examples', 'external-worker.ts');
  expect((await readFile(source, 'utf8')).trimEnd().split('\n').length).toBeLessThan(80);
  const folder = await mkdtemp(join(tmpdir(), 'ap-example-'));
  const fixture = await startFixture('postgres');
  try {
    await mkdir(join(folder, 'examples'));
    for (const file of [
      'openapi.json',
      'examples/external-worker.ts',
      'examples/openapi-ts.config.ts',
      'package.json',
    ])
      await copyFile(join(root, file), join(folder, file));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    await run('npm', ['run', '--silent', 'example:client'], { cwd: folder });
    await run(join(root, 'node_modules/.bin/tsc'), ['--project', folder]);

    const agent = await newAgent(fixture, { execution: 'external' });
    const { value } = await newKey(fixture, 'builder');
    const env = { PATH: process.env.PATH, KEY: value, AGENT_ID: agent.id, PLATFORM_URL: fixture.test.origin };
    const worker = spawn(process.execPath, ['examples/external-worker.ts'], { cwd: folder, env });
    let output = '';
    for (const stream of [worker.stdout, worker.stderr]) stream.on('data', (chunk) => (output += chunk));
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    try {
      const item = await ok(fixture.api.post('/work-items', { agent_id: agent.id, message: 'hello' }));
      const done = await until(async () => {
        const now = await ok(fixture.api.get(`/work-items/${item.id}`));
        return now.status === 'COMPLETED' && now;
      }).catch((error) => {
        throw new Error(`${error}\n${output}`);
      });
      expect(done.result).toBe('HELLO');
      expect((await ok(fixture.api.get(`/work-items/${item.id}/messages`))).data).toHaveLength(1);
      worker.kill('SIGTERM');
      expect(await exited).toBe(0);
    } finally {
      worker.kill('SIGKILL');
    }
  } finally {
    await fixture.test.stop();
    await rm(folder, { recursive: true, force: true });
  }
}, 90_000);
