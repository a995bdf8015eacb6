import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { client } from '../harness/http.ts';
import { spawnPlatform } from '../harness/process.ts';

const root = join(import.meta.dirname, '..', '..');

/** A text of more than 64 KB, which is read on a thread. */
const long = 'x'.repeat(70_000);

test('each thread that the build starts is in it', ({ skip }) => {
  const dist = join(root, 'dist');
  skip(!existsSync(join(dist, 'main.js')), 'the platform is not built');
  const program = readFileSync(join(dist, 'start.js'), 'utf8');
  const named = new Set([...program.matchAll(/"\.\/([\w-]+-worker\.js)"/g)].map(([, name]) => name!));
  expect(readdirSync(dist).filter((name) => name.endsWith('-worker.js'))).toEqual([...named].sort());
  expect(named.size).toBeGreaterThanOrEqual(4);
});

test('a platform reads long JSON and long YAML on threads of its build', async ({ skip }) => {
  skip(!existsSync(join(root, 'dist', 'main.js')), 'the platform is not built');
  await using platform = await spawnPlatform({ env: { LOG_LEVEL: 'error' } });
  const api = client(`${platform.url}/api/v2`, platform.key);
  const span = { traceId: '0'.repeat(31).concat('1'), spanId: '0'.repeat(15).concat('1'), name: long };
  const traces = await fetch(`${platform.url}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
  });
  expect([traces.status, await traces.text()]).toEqual([200, '{}']);

  const dataset = (await api.post('/datasets', { name: 'd' })).body;
  const content = `tests:\n  - vars: { message: ${long} }\n    assert: [{ type: contains, value: a }]\n`;
  const imported = await api.post(`/datasets/${dataset.id}/import`, { format: 'promptfoo', content });
  expect(imported.status, imported.text).toBe(200);
});
