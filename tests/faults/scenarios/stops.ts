import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgresProxy } from '../../harness/postgres-proxy.ts';
import { until } from '../../harness/wait.ts';
import { isFiring } from './boundaries.ts';
import { nothingDue } from './due.ts';
import { Fixture } from './fixture.ts';
import { verifyWithProduct } from './product-verifier.ts';
import { makeSchedules } from './test-schedules.ts';
import type { Verification } from './verifier.ts';

const minute = 60_000;
const options = { env: { ROLES: 'api,scheduler,delivery', LOG_LEVEL: 'error' } };

/** The statement of a firing after which a replica freezes, before it reads the response. */
export const places = {
  'the settings, all locked': /from "?advanced_settings/,
  'the firing itself': /update schedules/,
  'the notification, all written': /pg_notify/,
  'COMMIT, its acknowledgement unread': /^commit$/,
};
export type Place = keyof typeof places;

export interface StopsReport {
  /** The shortest time that a replica was frozen, in milliseconds. */
  frozenMs: number;
  /** How long after the last freeze the others had fired everything that was due then, in milliseconds. */
  heldMs: number;
  /** How often the clock advanced in the meantime. */
  advances: number;
  verification: Verification;
}

/**
 * Replicas are stopped by SIGSTOP in the middle of a firing, each after another statement of `at`, while one more
 * replica and the clock continue. After `frozenMs` they wake and continue with what they still consider theirs.
 */
export const runStops = async (
  at: readonly Place[],
  frozenMs: number,
  schedules: number,
): Promise<StopsReport> => {
  await using fixture = await Fixture.open('postgres', at.length + 1);
  await using proxies = new AsyncDisposableStack();
  await fixture.start(0, { env: { ...options.env, ROLES: 'api,delivery' } });
  const made = await makeSchedules(fixture.api(), schedules);
  let frozenAt = 0;
  // One after the other: each waits for the locks of those before it, which the server releases after 5 s.
  for (const [n, place] of at.entries()) {
    const proxy = proxies.use(await startPostgresProxy(fixture.databaseUrl!));
    await fixture.start(n + 1, { ...options, databaseUrl: proxy.url });
    let frozen = false;
    proxy.decide = ({ transaction, text }) => {
      if (!frozen && isFiring(transaction) && places[place].test(text)) {
        frozen = true;
        frozenAt = Date.now();
        process.kill(fixture.replicas[n + 1]!.process!.pid, 'SIGSTOP');
      }
      return 'pass';
    };
    await until(
      async () => {
        if (!frozen && (await nothingDue(fixture))) await fixture.moveClock(minute);
        if (!frozen) await fixture.wake();
        return frozen;
      },
      60_000,
      100,
    );
  }
  // Replica 0 becomes the one that continues.
  await fixture.kill(0);
  await fixture.start(0, options);
  await until(() => nothingDue(fixture), 30_000, 20);
  const heldMs = Date.now() - frozenAt;
  const since = Date.now();
  let advances = 0;
  do {
    await fixture.moveClock(minute);
    await fixture.wake();
    await sleep(Math.min(frozenMs / 4, 1_000));
    advances++;
  } while (Date.now() - since < frozenMs);
  for (const { process: stopped } of fixture.replicas.slice(1)) process.kill(stopped!.pid, 'SIGCONT');
  const frozenFor = Date.now() - since;
  for (let i = 1; i < fixture.replicas.length; i++)
    await until(async () => (await fixture.api(i, '').get('/readyz')).status === 200, 30_000);
  for (let n = 0; n < 3; n++) {
    await fixture.moveClock(minute);
    await fixture.wake();
    await until(() => nothingDue(fixture), 30_000);
  }
  return { frozenMs: frozenFor, heldMs, advances, verification: await verifyWithProduct(fixture, made) };
};
