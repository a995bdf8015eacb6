import { setTimeout as sleep } from 'node:timers/promises';
import { int } from '../../../../packages/cron/tests/random.ts';
import { until } from '../../../harness/wait.ts';
import type { Caller } from './caller.ts';

const kinds = ['kill', 'stop', 'freeze', 'cut', 'database'] as const;
type Fault = (typeof kinds)[number];

/** How long a replica may take from SIGTERM to its end. */
const mostStopMs = 20_000;

/**
 * Faults one after the other, with a pause between: SIGKILL and SIGTERM of replicas with a new start, a frozen replica,
 * connections that are cut, and a restart or crash of PostgreSQL. Replica 0 is killed only if it is the only one.
 */
export class Faults {
  readonly counts: Record<Fault, number> = { kill: 0, stop: 0, freeze: 0, cut: 0, database: 0 };
  readonly #caller: Caller;
  readonly #start: (replica: number) => Promise<unknown>;
  /** Called before a replica is started again, and after it. */
  readonly #around: { before(): Promise<void>; after(): Promise<void> };

  constructor(
    caller: Caller,
    start: (replica: number) => Promise<unknown>,
    around: { before(): Promise<void>; after(): Promise<void> },
  ) {
    this.#caller = caller;
    this.#start = start;
    this.#around = around;
  }

  /** Causes faults from `from` to `end` (milliseconds since 1970), every `everyMs` on average. */
  async run(from: number, end: number, everyMs: number): Promise<void> {
    const { random } = this.#caller;
    await sleep(Math.max(0, from - Date.now()));
    for (;;) {
      const pause = everyMs * (0.5 + random());
      if (Date.now() + pause > end) return void (await sleep(Math.max(0, end - Date.now())));
      await sleep(pause);
      const fault = this.#pick(random());
      this.counts[fault]++;
      await this.#cause(fault).catch((error) => this.#caller.problem(`fault ${fault}: ${String(error)}`));
    }
  }

  #pick(chance: number): Fault {
    if (chance < 0.35) return 'kill';
    if (chance < 0.65 || this.#caller.fixture.postgres === null) return 'stop';
    if (chance < 0.75) return 'freeze';
    return chance < 0.9 ? 'cut' : 'database';
  }

  async #cause(fault: Fault): Promise<void> {
    const { fixture, random } = this.#caller;
    if (fault === 'cut') {
      await fixture.inspect((rows) =>
        rows(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'agent-platform' and random() < 0.5`),
      );
      return;
    }
    if (fault === 'database') {
      await fixture.postgres!.kill(random() < 0.5 ? 'SIGINT' : 'SIGKILL');
      await sleep(random() * 8_000);
      await fixture.postgres!.restart();
      return;
    }
    const last = fixture.replicas.length - 1;
    const victim = last === 0 ? 0 : int(random, 1, last);
    const replica = fixture.replicas[victim]!.process!;
    const { pid, kill } = replica;
    if (fault === 'freeze') {
      process.kill(pid, 'SIGSTOP');
      await sleep(int(random, 2_000, 10_000));
      process.kill(pid, 'SIGCONT');
      return;
    }
    if (fault === 'stop') {
      const begun = Date.now();
      const exit = await Promise.race([kill('SIGTERM'), sleep(2 * mostStopMs, null)]);
      const took = Date.now() - begun;
      if (exit?.code !== 0 || took > mostStopMs)
        this.#caller.problem(`a stop took ${took} ms and ended with ${JSON.stringify(exit)}`);
    }
    await fixture.kill(victim);
    this.#caller.readLog(replica);
    await this.#around.before();
    await this.#start(victim);
    await this.#around.after();
  }

  /** Every replica is up and can serve. */
  async settled(): Promise<void> {
    const { fixture } = this.#caller;
    for (const i of fixture.replicas.keys()) {
      await until(async () => (await fixture.api(i, '').get('/readyz')).status === 200, 60_000, 200);
    }
  }
}
