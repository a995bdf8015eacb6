import { setTimeout as sleep } from 'node:timers/promises';
import { int, seeded } from '../../../packages/cron/tests/random.ts';
import { startPostgresPair } from '../../harness/postgres-pair.ts';
import { until } from '../../harness/wait.ts';
import { nothingDue } from './due.ts';
import type { Load, StartLoad } from './fail-over/load.ts';
import { beginTalk } from './fail-over/talk.ts';
import { Fixture, must } from './fixture.ts';
import { verifyWithProduct } from './product-verifier.ts';
import { makeSchedules } from './test-schedules.ts';
import type { Verification } from './verifier.ts';
import { Writer } from './workloads.ts';

const minute = 60_000;
const replicas = 3;

export interface FailOverOptions {
  failOvers: number;
  schedules: number;
  seed: number;
  /** What goes on beside the schedules, the writes and one conversation for each fail-over. */
  loads: readonly StartLoad[];
}

export interface FailOverReport {
  failOvers: number;
  /** Those in which the old primary lived on for a moment. */
  overlaps: number;
  kills: number;
  /** Until the standby took commits, and until the API took writes again. */
  promotedMs: number[];
  writtenMs: number[];
  writes: number;
  /** Writes that had to be sent more than once. */
  repeated: number;
  streams: number;
  /** Those of the loads. */
  figures: Record<string, unknown>;
  problems: string[];
  verification: Verification;
}

/** Everything at once on a pair whose primary dies again and again, with replicas. */
export const runFailOvers = async (options: FailOverOptions): Promise<FailOverReport> => {
  const random = seeded(options.seed);
  const pair = await startPostgresPair({ max_connections: '150' });
  await using fixture = await Fixture.open('postgres', replicas, pair);
  const env = { EGRESS_ALLOW: '127.0.0.0/8' };
  await Promise.all(fixture.replicas.map((_, i) => fixture.start(i, { env })));
  const api = fixture.api();
  await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 2 }));
  const schedules = await makeSchedules(api, options.schedules, undefined, {
    mock: { steps: [{ text: 'Done.' }] },
  });
  const talker = await must(api.post('/agents', { name: 'talker', mode: 'conversational' }));
  await using ending = new AsyncDisposableStack();
  const loads: Load[] = [];
  for (const start of options.loads) loads.push(ending.use(await start(fixture)));
  const writer = new Writer(
    fixture.replicas.map((_, i) => fixture.api(i)),
    2,
    50,
  );

  const problems: string[] = [];
  const promotedMs: number[] = [];
  const writtenMs: number[] = [];
  let [overlaps, kills, streams] = [0, 0, 0];
  try {
    for (let n = 0; n < options.failOvers; n++) {
      const victim = int(random, 0, replicas - 1);
      const followTalk = await beginTalk(fixture, talker.id!, victim);
      // The minute begins within moments of the death of the primary.
      await until(() => nothingDue(fixture), 60_000, 50);
      const left = minute - (fixture.now() % minute);
      await fixture.moveClock(left - 150);
      await fixture.wake();
      await sleep(random() * 300);
      const overlap = n % 2 === 1;
      if (overlap) overlaps++;
      const killing = random() < 0.75 ? sleep(random() * 400).then(() => fixture.kill(victim)) : null;
      const begun = performance.now();
      promotedMs.push(Math.round(await pair.failOver({ aliveForMs: overlap ? 1_500 : 0 })));
      if (killing) {
        await killing;
        kills++;
        await fixture.start(victim, { env });
      }
      const before = writer.acknowledged.size;
      await until(() => writer.acknowledged.size > before + 2, 60_000);
      writtenMs.push(Math.round(performance.now() - begun));
      await followTalk();
      streams++;
      await pair.rebuild();
    }
  } finally {
    await Promise.all([writer, ...loads].map((load) => load.stop()));
  }

  await fixture.inspect(async (rows) => {
    for (const load of loads) problems.push(...(await load.problems(rows)));
    problems.push(...(await writer.problems(rows)));
  });
  const verification = await verifyWithProduct(fixture, schedules);
  return {
    failOvers: options.failOvers,
    overlaps,
    kills,
    promotedMs,
    writtenMs,
    writes: writer.acknowledged.size,
    repeated: writer.repeated,
    streams,
    figures: Object.assign({}, ...loads.map((load) => load.figures())),
    problems,
    verification,
  };
};
