import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { names } from '../harness/telemetry.ts';
import { until } from '../harness/wait.ts';
import { freePort } from '../harness/watchdog.ts';
import { spawnTelemetry } from './scenarios/telemetry-process.ts';
import { Clients, spansARequest } from './scenarios/telemetry-traffic.ts';

test('SIGKILL with several requests in flight: only what was in the window is sent again, nothing is lost', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ap-window-'));
  const port = await freePort();
  // So slow that the backlog grows.
  await using slow = await startOtlpReceiver();
  let present = 0;
  let most = 0;
  slow.respondWith(() => {
    most = Math.max(most, ++present);
    setTimeout(() => present--, 40);
    return { delayMs: 40 };
  });
  const server = { directory, port, integrations: [{ number: 1, url: slow.url }] };
  const traffic = new Clients(port);
  try {
    const first = spawnTelemetry(server);
    await first.ready;
    const stop = new AbortController();
    const running = traffic.run(0, stop.signal);
    await until(() => most >= 3, 20_000, 2);
    await first.kill();
    stop.abort();
    await running;
    const before = slow.requests.length;
    slow.respondWith(200);

    await using second = spawnTelemetry(server);
    await second.ready;
    const counters = await until(async () => {
      const now = await second.send();
      return now[1]!.queued === 0 && now;
    }, 20_000);
    const kept = new Set(slow.spans().map(({ name }) => name));
    for (const prefix of traffic.acknowledged) {
      for (let i = 0; i < spansARequest; i++)
        if (!kept.has(`${prefix}-${i}`)) throw new Error(`${prefix}-${i}`);
    }
    expect(counters[1]).toMatchObject({ delivered: kept.size, discarded: 0, expired: 0 });
    const later = new Set(names(slow.requests.slice(before)));
    const again = slow.requests
      .slice(0, before)
      .filter((one) => names([one]).some((name) => later.has(name)));
    expect(again.length).toBeGreaterThan(0);
    expect(again.length).toBeLessThanOrEqual(16);
    expect(traffic.refused).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}, 400_000);
