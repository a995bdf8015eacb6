import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FaultyProxy, startFaultyProxy } from '../harness/faulty-proxy.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { adminKey } from '../harness/process.ts';
import { skipNote } from '../harness/programs.ts';
import { missing, python, pythonEnvironment } from './python.ts';

const root = join(import.meta.dirname, '../..');
describe.skipIf(missing !== null)(`the Python client${skipNote(missing)}`, () => {
  let platform: TestPlatform;
  let proxy: FaultyProxy;
  beforeAll(async () => {
    platform = await startTestPlatform();
    proxy = await startFaultyProxy(platform.origin);
  });
  beforeEach(() => {
    proxy.faults.length = 0;
    proxy.seen.length = 0;
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await platform?.stop();
  });

  /** What a case of `python/cases.py` prints. */
  const run = async (name: string): Promise<unknown> => {
    const env = { ...pythonEnvironment, URL: `${proxy.origin}/`, KEY: adminKey };
    const { stdout } = await promisify(execFile)(
      python!,
      [join(import.meta.dirname, 'python/cases.py'), name],
      { env },
    );
    return JSON.parse(stdout);
  };

  test('creates, reads, changes with an ETag, and deletes', async () => {
    const refused = [412, 'precondition_failed'];
    expect(await run('create_and_change')).toEqual({ name: 'Day clerk', refused, deleted: null });
  });

  test('raises what the platform says, with every fault', async () => {
    const refusal = {
      status: 422,
      error_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      details: [{ path: 'name' }],
    };
    expect(await run('refusal')).toMatchObject({ ...refusal, text: expect.stringContaining('\nname: ') });
  });

  test('raises what a server between them says', async () => {
    proxy.faults.push({ status: 400 });
    expect(await run('foreign_refusal')).toEqual([400, 'unknown', '400: <h1>Bad gateway</h1>']);
  });

  test('sends a creation whose response was lost again, and makes one', async () => {
    proxy.faults.push('lose the response', { status: 503, retryAfter: '0' });
    expect(await run('create_one')).toBe('Only one');
    expect(new Set(proxy.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    const { data } = (await platform.api.get('/agents?limit=100')).body;
    expect(data.filter(({ name }: { name: string }) => name === 'Only one')).toHaveLength(1);
  });

  test('sends nothing twice that could happen twice', async () => {
    proxy.faults.push('pass', { status: 503, retryAfter: '0' });
    expect(await run('change')).toBe(503);
  });

  test('goes through lists of both shapes, page by page', async () => {
    expect(await run('pages')).toEqual({ items: ['a', 'b', 'c'], agents: 1 });
  });

  test('goes on with a stream that was cut, without a gap and without an event twice', async () => {
    proxy.faults.push('pass', 'pass', { cutBehind: 'run.started' }, { cutBehind: 'message' });
    const events = (await run('stream')) as [string, string][];
    expect(events.map(([id]) => Number(id))).toEqual(events.map((_, n) => n + 1));
    expect(events.at(-1)![1]).toBe('run.completed');
    expect(proxy.seen.filter(({ headers }) => headers['last-event-id'] !== undefined)).toHaveLength(2);
  });

  test('sends a file as a form, and gets its bytes back', async () => {
    expect(await run('files')).toEqual(['ledger.csv', 'month,total\nMay,12']);
  });

  test('has a method with existing types for every operation', async () => {
    const { paths } = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'));
    const operations = Object.values<object>(paths).flatMap((methods) => Object.keys(methods));
    expect(await run('types')).toBe(operations.length);
  });
});
