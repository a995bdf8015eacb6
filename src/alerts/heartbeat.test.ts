import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Secret } from '../lib/crypto.ts';
import { EgressError } from '../lib/egress.ts';
import type { Logger } from '../lib/log.ts';
import { HeartbeatCalls } from './heartbeat.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const respond = (status: number) => ({ status, headers: {}, body: Buffer.alloc(0), truncated: false });

test('it calls in its interval while the firing loop works, and again after 5 s when a call failed', async () => {
  const logged: unknown[] = [];
  const log = { warn: (...line: unknown[]) => logged.push(line), info: () => {} } as unknown as Logger;
  let works = false;
  let response: number | Error = 200;
  const calls: number[] = [];
  const began = performance.now();
  const heartbeat = new HeartbeatCalls({
    config: { url: new Secret('https://watch.example.com/secret-path'), seconds: 60 },
    log,
    isFiring: () => works,
    egress: {
      request: async (url, { method }) => {
        expect([url, method]).toEqual(['https://watch.example.com/secret-path', 'GET']);
        calls.push(Math.round((performance.now() - began) / 1000));
        if (response instanceof Error) throw response;
        return respond(response);
      },
    },
  });
  heartbeat.start();
  const until = async (seconds: number) => {
    const left = seconds * 1000 - (performance.now() - began);
    await vi.advanceTimersByTimeAsync(left);
    return calls.splice(0);
  };
  expect(await until(30)).toEqual([]);
  works = true;
  expect(await until(100)).toEqual([31, 91]);
  response = new EgressError('connect', 'no connection (ECONNREFUSED)');
  expect(await until(159)).toEqual([151, 156]);
  response = 302;
  expect(await until(164)).toEqual([161]);
  response = 204;
  expect(await until(230)).toEqual([166, 226]);
  works = false;
  expect(await until(400)).toEqual([]);
  expect(JSON.stringify(logged)).toContain('no connection (ECONNREFUSED)');
  expect(JSON.stringify(logged)).not.toContain('secret-path');
  expect(logged).toHaveLength(1);
  const [counts] = await Promise.all(heartbeat.metrics.map((metric) => metric.get()));
  expect(counts!.values.map(({ labels, value }) => [labels.outcome, value])).toEqual([
    ['ok', 4],
    ['failed', 3],
  ]);
  await heartbeat.stop();
});
