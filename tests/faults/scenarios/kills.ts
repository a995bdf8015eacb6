import { setTimeout as sleep } from 'node:timers/promises';
import { int, type Random, seeded } from '../../../packages/cron/tests/random.ts';
import { startOtlpReceiver } from '../../harness/otlp-receiver.ts';
import { until } from '../../harness/wait.ts';
import { nothingDue } from './due.ts';
import { Fixture, must } from './fixture.ts';
import { verifyWithProduct } from './product-verifier.ts';
import { makeSchedules } from './test-schedules.ts';
import type { Verification } from './verifier.ts';
import { Tracer, Writer } from './workloads.ts';

const minute = 60_000;
/** Work Items stay PENDING here; the scenario of the leases covers those that execute. */
const env = { ROLES: 'api,scheduler,delivery' };

export interface KillsOptions {
  database: 'embedded' | 'postgres';
  /** More than one on PostgreSQL only. */
  replicas: number;
  schedules: number;
  kills: number;
  seed: number;
}

export interface KillsReport {
  kills: number;
  verification: Verification;
  writes: { acknowledged: number; repeated: number; problems: string[] };
  telemetry: { acknowledged: number; spans: number; duplicates: number; problems: string[] };
}

/** How far the clock goes from one kill to the next: mostly to the next minute, at times past the grace, or back. */
const step = (random: Random): number => {
  const kind = random();
  if (kind < 0.7) return minute;
  return kind < 0.85 ? int(random, 2, 11) * minute : -int(random, 1, 90) * 1_000;
};

/** PostgreSQL: the clock moves while replicas run, and one of them dies within moments of that. */
const killReplicas = async (fixture: Fixture, options: KillsOptions): Promise<void> => {
  const random = seeded(options.seed);
  const starting: Promise<unknown>[] = fixture.replicas.map(async () => {});
  for (let kills = 0; kills < options.kills; kills++) {
    const victim = int(random, 0, options.replicas - 1);
    // Sometimes one that is just starting.
    if (random() < 0.85) await starting[victim];
    await fixture.moveClock(step(random));
    await fixture.wake();
    await sleep(random() * 60);
    await fixture.kill(victim);
    await starting[victim];
    starting[victim] = fixture.start(victim, { env });
    starting[victim].catch(() => {});
    if (random() < 0.5) {
      await until(() => nothingDue(fixture), 2_000).catch(() => {});
    }
  }
  await Promise.all(starting);
};

/** Embedded: the clock is set before each start so that a minute begins soon after it, and the kill is near that. */
const killEmbedded = async (fixture: Fixture, options: KillsOptions, firstStartMs: number): Promise<void> => {
  const random = seeded(options.seed);
  let startMs = firstStartMs;
  for (let kills = 0; kills < options.kills; kills++) {
    await fixture.kill();
    const ahead = minute - ((fixture.now() + startMs + 300) % minute);
    await fixture.moveClock(ahead + (random() < 0.3 ? int(random, 1, 11) * minute : 0));
    const begun = Date.now();
    const due = fixture.now() + startMs + 300;
    const started = fixture.start(0, { env });
    if (random() < 0.15) {
      // While it starts: migrations, recovery of the log, the first firing.
      await Promise.race([started, sleep(random() * startMs)]);
      started.catch(() => {});
      continue;
    }
    await started;
    startMs = Math.max(500, Math.min(10_000, (startMs + Date.now() - begun) / 2));
    await sleep(Math.max(0, due - fixture.now()) + random() * 80);
  }
};

/** Resolves when no span is queued. That may take as long as the difficult backend makes progress. */
const drained = async (tracer: Tracer, fixture: Fixture): Promise<void> => {
  for (let least = Number.POSITIVE_INFINITY; least > 0; ) {
    least = await until(
      async () => {
        const health = await tracer.health(fixture.api());
        const queued = health.reduce((sum, one) => sum + one.queued!, 0);
        return queued < least && { queued };
      },
      30_000,
      100,
    ).then(({ queued }) => queued);
  }
};

/** Schedules fire, clients write and spans are sent while replicas die; then everything is verified. */
export const runUnderKills = async (options: KillsOptions): Promise<KillsReport> => {
  await using fixture = await Fixture.open(options.database, options.replicas);
  await using good = await startOtlpReceiver();
  await using difficult = await startOtlpReceiver();
  const begun = Date.now();
  await Promise.all(fixture.replicas.map((_, i) => fixture.start(i, { env })));
  const startMs = Date.now() - begun;
  const schedules = await makeSchedules(
    fixture.api(),
    options.schedules,
    undefined,
    undefined,
    // Nothing executes here, so `skip` fires once and `cancel_previous` leaves one open.
    (i) => (i % 5 === 3 ? 'skip' : i % 5 === 4 ? 'cancel_previous' : 'queue'),
  );
  const traced = await must(fixture.api().post('/agents', { name: 'Traced', mode: 'worker' }));
  const tracer = await Tracer.start(fixture.api(), traced.id!, 2, good, difficult);
  const writer = new Writer(
    fixture.replicas.map((_, i) => fixture.api(i)),
    2,
  );
  try {
    await (options.database === 'postgres' ? killReplicas : killEmbedded)(fixture, options, startMs);
    // On a busy machine the kills may be over before the clients have done enough to verify.
    const enough = options.kills + 1;
    await until(() => Math.min(writer.acknowledged.size, tracer.acknowledged.length) >= enough, 30_000);
  } finally {
    await Promise.all([writer.stop(), tracer.stop()]);
  }

  await drained(tracer, fixture);
  const traces = await tracer.problems(fixture.api(), options.kills);
  // Some more are missed at the end, whichever way the clock moved.
  await fixture.moveClock(4 * minute);
  const verification = await verifyWithProduct(fixture, schedules);
  // Awaited here, because the database is removed afterwards.
  return await fixture.inspect(async (rows) => ({
    kills: options.kills,
    verification,
    writes: {
      acknowledged: writer.acknowledged.size,
      repeated: writer.repeated,
      problems: await writer.problems(rows),
    },
    telemetry: { acknowledged: tracer.acknowledged.length * 3, ...traces },
  }));
};
