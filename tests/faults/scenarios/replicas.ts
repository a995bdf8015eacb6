import { setTimeout as sleep } from 'node:timers/promises';
import { int, pick, type Random, seeded } from '../../../packages/cron/tests/random.ts';
import { until } from '../../harness/wait.ts';
import { nothingDue } from './due.ts';
import { Fixture, must } from './fixture.ts';
import { verifyWithProduct } from './product-verifier.ts';
import { makeSchedules } from './test-schedules.ts';
import type { Verification } from './verifier.ts';

const minute = 60_000;

/** The roles of the replicas in rotation: each role alone (with delivery, which every replica needs) and together. */
const roles = [
  'api,scheduler,worker,delivery',
  'scheduler,delivery',
  'api,delivery',
  'worker,delivery',
  'scheduler,worker,delivery',
  'api,scheduler,delivery',
];
const optionsOf = (i: number) => ({ env: { ROLES: roles[i % roles.length]!, LOG_LEVEL: 'error' } });

export interface ReplicasOptions {
  replicas: number;
  schedules: number;
  /** How often the clock is moved: mostly into the next minute. */
  moves: number;
  kills: number;
  seed: number;
}

export interface ReplicasReport {
  kills: number;
  /** Replicas frozen for some seconds and woken; how often connections were cut, each time a part of all. */
  freezes: number;
  cuts: number;
  /** How often the clock went back past minutes that had fired. */
  backwards: number;
  carriedOut: number;
  verification: Verification;
}

type Fault = 'kill' | 'freeze' | 'cut';

/** The faults of a run, spread evenly over its moves; at least as many kills as requested. */
const planFaults = (random: Random, { moves, kills }: ReplicasOptions): Map<number, Fault[]> => {
  const plan = new Map<number, Fault[]>();
  const add = (fault: Fault, count: number) => {
    for (let n = 0; n < count; n++) {
      const move = Math.floor(((n + random()) * moves) / count);
      plan.set(move, [...(plan.get(move) ?? []), fault]);
    }
  };
  add('kill', kills);
  add('freeze', Math.ceil(kills / 6));
  add('cut', Math.ceil(kills / 6));
  return plan;
};

class Fleet {
  readonly fixture: Fixture;
  /** Resolves for each replica when it is ready, and not frozen. */
  readonly ready: Promise<unknown>[];
  readonly up = new Set<number>();
  freezes = 0;
  cuts = 0;
  kills = 0;

  constructor(fixture: Fixture) {
    this.fixture = fixture;
    this.ready = fixture.replicas.map((_, i) => this.#start(i));
  }

  async #start(i: number): Promise<void> {
    await this.fixture.start(i, optionsOf(i));
    this.up.add(i);
  }

  /** A replica that is up, sometimes one that is just starting. Waits if half of them are not up. */
  async #victim(random: Random): Promise<number> {
    await until(() => this.up.size > this.ready.length / 2, 120_000);
    return random() < 0.9 ? pick(random, [...this.up]) : int(random, 0, this.ready.length - 1);
  }

  async fault(kind: Fault, random: Random): Promise<void> {
    if (kind === 'cut') {
      this.cuts++;
      await this.fixture.inspect((rows) =>
        rows(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'agent-platform' and random() < 0.3`),
      );
      return;
    }
    const victim = await this.#victim(random);
    if (kind === 'kill') {
      this.kills++;
      this.up.delete(victim);
      await this.fixture.kill(victim);
      // If it was just starting, that start ends now.
      await this.ready[victim]!.catch(() => {});
      this.up.delete(victim);
      this.ready[victim] = this.#start(victim);
    } else if (this.up.delete(victim)) {
      this.freezes++;
      const { pid } = this.fixture.replicas[victim]!.process!;
      process.kill(pid, 'SIGSTOP');
      this.ready[victim] = sleep(int(random, 500, 5_000)).then(() => {
        process.kill(pid, 'SIGCONT');
        this.up.add(victim);
      });
    }
    this.ready[victim]!.catch(() => {});
  }
}

/**
 * How far the clock goes: mostly to the next minute, at times past the grace, or back, past minutes that have fired.
 */
const step = (random: Random): number => {
  const kind = random();
  if (kind < 0.88) return minute;
  return kind < 0.94 ? int(random, 2, 11) * minute : -int(random, 30, 300) * 1_000;
};

/**
 * Replicas of mixed roles on one PostgreSQL are killed, frozen and cut off while its clock jumps; then everything is
 * verified.
 */
export const runReplicas = async (options: ReplicasOptions): Promise<ReplicasReport> => {
  const random = seeded(options.seed);
  await using fixture = await Fixture.open('postgres', options.replicas);
  const fleet = new Fleet(fixture);
  await Promise.all(fleet.ready);
  // Few at a time, and slowly: workers take part, and leave the machine to the firing. Their leases must outlast the
  // jumps of the clock.
  await must(fixture.api().patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 3_600 }));
  const atOnce = Math.max(1, Math.round(800 / options.schedules));
  const schedules = await makeSchedules(
    fixture.api(),
    options.schedules,
    { max_concurrency: atOnce, max_attempts: 100 },
    { mock: { steps: [{ text: 'done', delay_ms: 2_000 }] } },
  );
  const faults = planFaults(random, options);
  let backwards = 0;
  for (let move = 0; move < options.moves; move++) {
    const by = step(random);
    await fixture.moveClock(by);
    await fixture.wake();
    for (const fault of faults.get(move) ?? []) {
      await sleep(random() * 60);
      await fleet.fault(fault, random);
    }
    if (by < 0) {
      if (by < -minute) backwards++;
      await sleep(200);
      await fixture.moveClock(-by);
    } else if (random() < 0.7) await until(() => nothingDue(fixture), 5_000).catch(() => {});
  }
  await Promise.all(fleet.ready);
  const verification = await verifyWithProduct(fixture, schedules);
  const problems = await fixture.inspect((rows) =>
    rows<{ id: string; n: number }>(`select work_item_id as id, count(*)::int as n from work_item_events
      where to_status = 'COMPLETED' group by 1`),
  );
  for (const { id, n } of problems)
    if (n > 1) verification.problems.push(`Work Item ${id} was completed ${n} times`);
  const { kills, freezes, cuts } = fleet;
  return { kills, freezes, cuts, backwards, carriedOut: problems.length, verification };
};
