import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seeded } from '../../../../packages/cron/tests/random.ts';
import { until } from '../../../harness/wait.ts';
import { Fixture, must } from '../fixture.ts';
import { verifyWithProduct } from '../product-verifier.ts';
import { makeSchedules } from '../test-schedules.ts';
import type { Verification } from '../verifier.ts';
import { Writer } from '../workloads.ts';
import { Caller } from './caller.ts';
import { Faults } from './faults.ts';
import { CpuShare, Life, takeSample } from './growth.ts';
import { Items } from './items.ts';
import { Kept } from './kept.ts';
import { Pages } from './pages.ts';
import { Traces } from './traces.ts';

export interface SoakOptions {
  database: 'embedded' | 'postgres';
  replicas: number;
  minutes: number;
  schedules: number;
  /** The pause of a client between two Work Items; the others are in proportion. */
  pauseMs: number;
  seed: number;
}

export interface SoakReport {
  verification: Verification;
  /** How much was done, by kind. */
  done: Record<string, number>;
  faults: Record<string, number>;
  /** The growth of each process that lived long enough, in an hour. */
  growth: Record<string, Record<string, number>>;
  /** The share of a core that all processes of the soak used, this one included, on average. */
  cores: number;
  /** What replicas logged as an error, and how often. */
  logged: Record<string, number>;
  problems: string[];
}

const minute = 60_000;
const sampleEveryMs = minute;
const reportEveryMs = 5 * minute;

/** Takes a sample of every replica that is up, once a minute; a new start begins a new life. */
class Watch {
  readonly lives: Life[] = [];
  readonly cores: number[] = [];
  readonly #caller: Caller;
  readonly #cpu = new CpuShare();
  /** By the process id. */
  readonly #current = new Map<number, Life>();
  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async sample(): Promise<void> {
    const { replicas, postgres } = this.#caller.fixture;
    const pids = replicas.flatMap(({ process }) => process?.pid ?? []);
    this.cores.push(this.#cpu.of([...pids, process.pid, ...(postgres?.pid ? [postgres.pid] : [])]));
    for (const [i, { process }] of replicas.entries()) {
      if (!process) continue;
      const life = this.#current.get(process.pid) ?? new Life(`replica ${i}, process ${process.pid}`);
      if (!this.#current.has(process.pid)) this.lives.push(life);
      this.#current.set(process.pid, life);
      const sample = await Promise.race([
        takeSample(process).catch(() => null),
        // Frozen, or killed in the meantime.
        sleep(20_000, null, { ref: false }),
      ]);
      if (sample) life.samples.push(sample);
    }
  }

  latest(): string {
    return this.lives
      .filter((life) => life.samples.length > 0 && Date.now() - life.samples.at(-1)!.at < 2 * sampleEveryMs)
      .map(({ samples }) => {
        const { resident, heap, files, sockets, handles, children } = samples.at(-1)!;
        return `${resident.toFixed(0)} MB, heap ${heap.toFixed(0)}, files ${files}, sockets ${sockets}, handles ${handles}, children ${children}`;
      })
      .join(' | ');
  }
}

const average = (values: number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

/** Waits until nothing is queued and nothing open, and every callback was delivered. */
const settle = async (
  caller: Caller,
  items: Items,
  traces: Traces,
  start: (i: number) => Promise<unknown>,
) => {
  const { fixture } = caller;
  const quiet = (what: string, fn: () => Promise<boolean>) =>
    until(fn, 5 * minute, 500).catch(() => caller.problem(`${what} after 5 minutes`));
  await quiet('spans are queued', async () => (await traces.counters()).every(({ queued }) => queued === 0));
  await quiet('Work Items are open', async () => {
    await items.proceed();
    return (await items.open(fixture.api())) === 0;
  });
  // The second attempt after a failure comes after 5 minutes, the third after half an hour.
  await quiet('callbacks are not delivered', async () => {
    if (!fixture.databaseUrl) await fixture.kill();
    const left = await fixture.inspect((rows) => items.undelivered(rows));
    if (left > 0) await fixture.moveClock(10 * minute);
    if (!fixture.databaseUrl) await start(0);
    else if (left > 0)
      await fixture.inspect(async (rows) => void (await rows(`select pg_notify('callbacks', '')`)));
    if (left > 0) await sleep(3_000);
    return left === 0;
  });
};

/** Everything the platform does, for hours, at a low load and under faults; then every account is checked. */
export const runSoak = async (options: SoakOptions): Promise<SoakReport> => {
  const { database, replicas, minutes, schedules, pauseMs, seed } = options;
  await using fixture = await Fixture.open(database, replicas);
  const folder = await mkdtemp(join(tmpdir(), 'ap-soak-'));
  const caller = new Caller(fixture, seeded(seed));
  const pages = await Pages.open(caller);
  const env = { NODE_OPTIONS: '--inspect=127.0.0.1:0', LOG_LEVEL: 'error', ...pages.env(folder) };
  const start = (i: number) => fixture.start(i, { env });
  await Promise.all(fixture.replicas.map((_, i) => start(i)));
  const api = fixture.api();
  await must(api.patch('/advanced-settings', { DEFAULT_ROLE: 'member', WORK_ITEM_LEASE_SECONDS: 10 }));
  const traced = await must(api.post('/agents', { name: 'Traced', mode: 'worker' }));
  const traces = await Traces.start(caller, String(traced.id), pauseMs / 8);
  const items = await Items.start(caller, pauseMs);
  const made = await makeSchedules(api, schedules);
  await pages.start(folder, pauseMs);
  const writer = new Writer(
    fixture.replicas.map((_, i) => fixture.api(i)),
    1,
    pauseMs,
  );
  const kept = new Kept(caller, items);
  const faults = new Faults(caller, start, { before: () => kept.age(), after: () => kept.removed() });
  const watch = new Watch(caller);
  const begun = Date.now();
  const end = begun + minutes * minute;
  let stopped = false;
  const watching = (async () => {
    let reported = begun;
    for (let next = begun + sampleEveryMs; !stopped; next += sampleEveryMs) {
      while (!stopped && Date.now() < next) await sleep(500);
      if (stopped) return;
      await watch.sample();
      if (Date.now() - reported < reportEveryMs - sampleEveryMs / 2) continue;
      reported = Date.now();
      const figures = {
        ...caller.done,
        ...faults.counts,
        unanswered: caller.unanswered,
        problems: caller.problems.length,
      };
      const cores = watch.cores.at(-1)!.toFixed(2);
      console.log(
        `${database} ${((Date.now() - begun) / minute).toFixed(0)} of ${minutes} min: ${JSON.stringify(figures)}, cores ${cores}, ${watch.latest()}`,
      );
    }
  })();
  try {
    // The only replica lives for three quarters of the time, so that its growth is seen.
    const from = replicas === 1 ? begun + minutes * minute * 0.75 : begun;
    await faults.run(from, end, Math.min(3 * minute, (minutes * minute) / 8));
    await Promise.all([pages.stop(), items.stop(), writer.stop(), traces.stop()]);
    await faults.settled();
    await settle(caller, items, traces, start);
    const settledAt = fixture.now();
    stopped = true;
    await watching;
    await pages.verifyAudits();
    for (const problem of await traces.problems()) caller.problem(problem);
    await items.close();
    for (const { process } of fixture.replicas) caller.readLog(process!);
    const verification = await verifyWithProduct(fixture, made);
    await fixture.inspect(async (rows) => {
      caller.done.checked = await items.check(rows, settledAt - minute);
      if (fixture.databaseUrl) await kept.check(rows);
      for (const problem of await writer.problems(rows)) caller.problem(problem);
    });
    for (const life of watch.lives) caller.problems.push(...life.problems());
    return {
      verification,
      done: {
        ...caller.done,
        takenOver: pages.takenOver,
        aged: items.removed,
        spans: traces.backends[0].kept.size,
        duplicates: traces.backends[0].duplicates,
        callbacks: items.receiver.requests.length,
        unanswered: caller.unanswered,
        unavailable: caller.unavailable,
      },
      faults: faults.counts,
      growth: Object.fromEntries(
        watch.lives.flatMap((life) => {
          const growth = life.growth();
          return growth ? [[`${life.name}, ${life.samples.length} min`, growth]] : [];
        }),
      ),
      cores: average(watch.cores.slice(1)),
      logged: caller.logged,
      problems: caller.problems,
    };
  } finally {
    stopped = true;
    await Promise.all([watching, traces.close(), pages.close()]);
    await rm(folder, { recursive: true, force: true });
  }
};
