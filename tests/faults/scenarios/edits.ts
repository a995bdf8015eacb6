import { setTimeout as sleep } from 'node:timers/promises';
import { pick, type Random, seeded } from '../../harness/cron-oracles.ts';
import type { Client } from '../../harness/http.ts';
import { until } from '../../harness/wait.ts';
import type { Account } from './account.ts';
import { nothingDue } from './due.ts';
import { type Change, type Deletion, definitionsOf, deletedProblems } from './edits-account.ts';
import { changeOne, expressions, readOne, remove } from './edits-clients.ts';
import { Ground, must } from './ground.ts';
import { closeAccount } from './product-account.ts';
import { makeSchedule, type TestSchedule } from './test-schedules.ts';

const minute = 60_000;
export interface EditsOptions {
  /** Of each kind: only read, edited, deleted. */
  schedules: number;
  /** Requests that read what is due and nobody fires. */
  reads: number;
  /** Due instants with clients on both sides of them. */
  instants: number;
  seed: number;
}

export interface EditsReport {
  reads: number;
  changes: Record<string, number>;
  problems: string[];
  account: Account;
}

/** The due schedules are read by eight clients while nobody fires. Answers whether a row of theirs was written. */
const readWhileDue = async (ground: Ground, schedules: TestSchedule[], reads: number, random: Random) => {
  // A version of a row has a place and a transaction of its own: any write, even of what was there, shows.
  const versions = () =>
    ground.inspect((rows) =>
      rows<{ next: Date }>(
        'select id, xmin::text, ctid::text, next_run_at as next from schedules order by id',
      ),
    );
  const before = await versions();
  if (before.some(({ next }) => next.getTime() > ground.now())) throw new Error('not all are due');
  let left = reads;
  const clients = Array.from({ length: 8 }, async () => {
    while (left-- > 0) await must(readOne(ground, pick(random, schedules), random));
  });
  await Promise.all(clients);
  return JSON.stringify(before) === JSON.stringify(await versions())
    ? []
    : [`${reads} reads have written to a schedule`];
};

/** Clients in a loop for as long as `during` lasts. */
const meanwhile = async (
  clients: number,
  turn: () => Promise<void>,
  during: Promise<unknown>,
): Promise<void> => {
  let over = false;
  const loops = Array.from({ length: clients }, async () => {
    while (!over) await turn();
  });
  await during;
  over = true;
  await Promise.all(loops);
};

const make = async (api: Client, count: number): Promise<TestSchedule[]> => {
  const made: TestSchedule[] = [];
  for (let i = 0; i < count; i++) {
    const agent = await must(api.post('/agents', { name: `Agent ${i}`, mode: 'worker' }));
    made.push(await makeSchedule(api, agent.id!, expressions[0]!, { catch_up: i % 2 === 0 }));
  }
  return made;
};

interface Done {
  reads: number;
  changes: Change[];
  deletions: Deletion[];
}

/** One due instant, with all clients busy before and after it; `doomed` are deleted about then. */
const oneInstant = async (
  ground: Ground,
  { onlyRead, edited, doomed }: Record<'onlyRead' | 'edited' | 'doomed', TestSchedule[]>,
  holdFiring: boolean,
  random: Random,
): Promise<Done> => {
  const done: Done = { reads: 0, changes: [], deletions: [] };
  await until(() => nothingDue(ground), 30_000);
  // Just before the next minute: the loop sleeps until then.
  await ground.moveClock(minute - (ground.now() % minute) - 150);
  await ground.wake();
  const over = sleep(500);
  const reading = async () => {
    done.reads++;
    await must(readOne(ground, pick(random, onlyRead), random));
  };
  const changing = async () => {
    done.changes.push(await changeOne(ground, pick(random, edited), random));
  };
  const clients = [meanwhile(2, reading, over), meanwhile(4, changing, over)];
  // Held for a while, so that changes find what is due.
  const { pid } = ground.replicas[2]!.process!;
  if (holdFiring) {
    process.kill(pid, 'SIGSTOP');
    over.then(() => process.kill(pid, 'SIGCONT'));
  }
  await sleep(130 + random() * 60);
  for (const schedule of doomed) done.deletions.push(await remove(ground, schedule, random));
  await Promise.all(clients);
  return done;
};

/**
 * Clients of two replicas read schedules that are due; then, at one due instant after another, they read, replace,
 * pause, resume and delete while a third replica fires. Every change is remembered as it was answered.
 */
export const runEdits = async (options: EditsOptions): Promise<EditsReport> => {
  const random = seeded(options.seed);
  await using ground = await Ground.open('postgres', 3);
  const env = (ROLES: string) => ({ env: { ROLES, LOG_LEVEL: 'error' } });
  await Promise.all([ground.start(0, env('api,delivery')), ground.start(1, env('api,delivery'))]);
  const [onlyRead, edited, deleted] = [
    await make(ground.api(), options.schedules),
    await make(ground.api(), options.schedules),
    await make(ground.api(), options.schedules),
  ];
  await ground.moveClock(minute);
  const problems = await readWhileDue(ground, [...onlyRead, ...edited], options.reads, random);
  await ground.start(2, env('scheduler,delivery'));
  await until(() => nothingDue(ground), 30_000);
  // Of what was due until now several times may have been skipped together, and a deletion forgets that.
  for (const schedule of deleted) schedule.definitions[0]!.after = ground.now();

  const all: Done = { reads: options.reads, changes: [], deletions: [] };
  for (let instant = 0; instant < options.instants; instant++) {
    const last = Math.floor(((instant + 1) * deleted.length) / options.instants);
    const doomed = deleted.slice(all.deletions.length, last);
    const done = await oneInstant(ground, { onlyRead, edited, doomed }, instant % 2 === 1, random);
    all.reads += done.reads;
    all.changes.push(...done.changes);
    all.deletions.push(...done.deletions);
  }
  await ground.inspect(async (rows) => {
    problems.push(...(await deletedProblems(rows, all.deletions)));
    for (const schedule of edited) {
      const found = await definitionsOf(rows, schedule, all.changes, new Map(expressions));
      schedule.definitions = found.definitions;
      problems.push(...found.problems);
    }
  });
  const account = await closeAccount(ground, [...onlyRead, ...edited]);
  const changes: Record<string, number> = { delete: all.deletions.length };
  for (const { kind } of all.changes) changes[kind] = (changes[kind] ?? 0) + 1;
  return { reads: all.reads, changes, problems, account };
};
