import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { startOtlpReceiver } from '../../tests/harness/otlp-receiver.ts';
import type { Totals } from './log/log.ts';

const program = fileURLToPath(new URL('../../tests/harness/telemetry-process.ts', import.meta.url));
/** About 2 s each on a small machine; more by hand: `CRASH_KILLS=200`. */
const kills = Number(process.env.CRASH_KILLS ?? 10);

let child: ChildProcess | null = null;
afterEach(() => {
  child?.kill('SIGKILL');
});

/** Runs the telemetry path; `killAfterMs` from when it is ready. Answers the lines it printed. */
const run = (args: string[], killAfterMs: number | null): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const process_ = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    child = process_;
    let output = '';
    let timer: NodeJS.Timeout | null = null;
    process_.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      if (killAfterMs !== null && output.startsWith('ready\n')) {
        timer ??= setTimeout(() => process_.kill('SIGKILL'), killAfterMs);
      }
    });
    process_.once('error', reject);
    process_.once('close', () => {
      if (timer) clearTimeout(timer);
      resolve(output.split('\n').slice(1, -1));
    });
  });

test('SIGKILL with several requests under way: what is sent again is what was in the window, and nothing is lost', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ap-crash-'));
  // So slow that the backlog grows.
  await using slow = await startOtlpReceiver();
  let present = 0;
  let most = 0;
  slow.respondWith(() => {
    most = Math.max(most, ++present);
    setTimeout(() => present--, 25);
    return { delayMs: 25 };
  });
  const acknowledged: string[] = [];
  /** Requests that had come by each kill. */
  const before: number[] = [];
  try {
    for (const [i, ms] of [900, 1_300].entries()) {
      acknowledged.push(...(await run([directory, `w${i}`, slow.url], ms)));
      before.push(slow.requests.length);
    }
    slow.respondWith(200);
    const [last] = await run([directory, 'drain', slow.url], null);
    const received = slow.spans().map(({ name }) => name);
    const unique = new Set(received);
    const spans = acknowledged.flatMap((prefix) => [0, 1, 2].map((k) => `${prefix}-${k}`));
    expect(spans.filter((name) => !unique.has(name))).toEqual([]);
    const { accounts } = JSON.parse(last!) as { accounts: { totals: Totals }[] };
    expect(accounts[0]!.totals).toMatchObject({ delivered: unique.size, discarded: 0, queued: 0 });
    expect(most).toBeGreaterThan(2);
    for (const kill of before) {
      const later = new Set(slow.requests.slice(kill).flatMap((one) => one.spans.map(({ name }) => name)));
      const again = slow.requests
        .slice(0, kill)
        .filter((one) => one.spans.some(({ name }) => later.has(name)));
      expect(again.length).toBeLessThanOrEqual(16);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 60_000);

test(
  `${kills} times SIGKILL during append, delivery and segment deletion: nothing acknowledged is lost`,
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ap-crash-'));
    await using healthy = await startOtlpReceiver();
    await using poisoned = await startOtlpReceiver();
    // Refuses every span of some requests for itself, and is out of order now and then.
    poisoned.respondWith((request, index) => {
      if (index % 9 === 8) return { status: 503, headers: { 'retry-after': '0' } };
      return request.spans.some(({ name }) => /\.[a-c]\.\d*7-1$/.test(name)) ? 400 : 200;
    });
    const acknowledged: string[] = [];
    try {
      for (let i = 0; i < kills; i++) {
        const lines = await run([directory, `g${i}`, healthy.url, poisoned.url], 5 + ((i * 37) % 120));
        acknowledged.push(...lines);
      }
      const [last] = await run([directory, 'drain', healthy.url, poisoned.url], null);
      const { accounts, letters } = JSON.parse(last!) as {
        accounts: { totals: Totals }[];
        letters: number[];
      };
      const received = [healthy, poisoned].map((one) => one.spans().map(({ name }) => name));
      const unique = received.map((names) => new Set(names));
      expect(acknowledged.length).toBeGreaterThan(kills);

      const spans = acknowledged.flatMap((prefix) => [0, 1, 2].map((k) => `${prefix}-${k}`));
      expect(spans.filter((name) => !unique[0]!.has(name))).toEqual([]);
      const bad = (name: string) => /\.[a-c]\.\d*7-1$/.test(name);
      expect(spans.filter((name) => !bad(name) && !unique[1]!.has(name))).toEqual([]);

      // To the span: what was accepted is what arrived, or is a dead letter.
      const accepted = unique[0]!.size;
      expect(accounts[0]!.totals).toMatchObject({
        delivered: accepted,
        dead_lettered: 0,
        discarded: 0,
        queued: 0,
      });
      const { delivered, dead_lettered, discarded } = accounts[1]!.totals;
      expect({ delivered, discarded }).toEqual({ delivered: unique[1]!.size, discarded: 0 });
      expect(dead_lettered).toBe([...unique[0]!].filter(bad).length);
      expect(delivered + dead_lettered).toBe(accepted);
      expect(letters).toEqual([0, dead_lettered]);

      // Duplicates: here the backlog does not grow, so at most the one request under way at each kill.
      const largest = Math.max(...healthy.requests.map((request) => request.spans.length));
      expect(received[0]!.length - accepted).toBeLessThanOrEqual(kills * largest);
      const times = new Map<string, number>();
      for (const name of received[0]!) times.set(name, (times.get(name) ?? 0) + 1);
      const twice = healthy.requests.filter(({ spans: own }) => own.some(({ name }) => times.get(name)! > 1));
      expect(twice.length).toBeLessThanOrEqual(kills * 2 + 2);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
  60_000 + kills * 5_000,
);
