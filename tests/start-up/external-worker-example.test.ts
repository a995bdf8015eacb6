import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newAgent, newKey, ok, startFixture } from '../contract/fixture.ts';
import { until } from '../harness/wait.ts';

const root = join(import.meta.dirname, '../..');

test('the example of an external worker is short, executes and stops', async () => {
  const source = join(root, 'examples', 'external-worker.ts');
  expect((await readFile(source, 'utf8')).trimEnd().split('\n').length).toBeLessThan(100);
  const fixture = await startFixture('postgres');
  try {
    const agent = await newAgent(fixture, { execution: 'external' });
    const { value } = await newKey(fixture, 'builder');
    const env = { PATH: process.env.PATH, KEY: value, AGENT_ID: agent.id, PLATFORM_URL: fixture.test.origin };
    const worker = spawn(process.execPath, [source], { env });
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
  }
}, 400_000);
