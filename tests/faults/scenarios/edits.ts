import { setTimeout as sleep } from 'node:timers/promises';
import { pick, type Random, seeded } from '../../../packages/cron/tests/random.ts';
import type { Client } from '../../harness/http.ts';
import { until } from '../../harness/wait.ts';
import { nothingDue } from './due.ts';
import { changeOne, expressions, readOne, remove } from './edits-clients.ts';
import { type Change, type Deletion, definitionsOf, deletedProblems } from './edits-verifier.ts';
import { Fixture, must } from './fixture.ts';
import { verifyWithProduct } from './product-verifier.ts';
import { makeSchedule, type TestSchedule } from './test-schedules.ts';
import type { Verification } from './verifier.ts';

const minute = 60_000;
export interface EditsOptions {
  /** Of each kind: only read, edited, deleted. */
  schedules: number;
  /** Requests that read what is due while nothing fires. */
  reads: number;
  /** Due instants during which clients are busy. */
  instants: number;
  seed: number;
}

export interface EditsReport {
  reads: number;
  changes: Record<string, number>;
  problems: string[];
  verification: Verification;
}

/** Eight clients read the due schedules while nothing fires. Resolves to whether a row of theirs was written. */
const readWhileDue = async (fixture: Fixture, schedules: TestSchedule[], reads: number, random: Random) => {
  // Each version of a row has its own place and transaction, so any write shows, even one that changes nothing.
  const versions = () =>
    fixture.inspect((rows) =>
      rows<{ next: Date }>(
        'select id, xmin::text, ctid::text, next_run_at as next from schedules order by id',
      ),
    );
  const before = await versions();
  if (before.some(({ next }) => next.getTime() > fixture.now())) throw new Error('not all are due');
  let left = reads;
  const clients = Array.from({ length: 8 }, async () => {
    while (left-- > 0) await must(readOne(fixture, pick(random, schedules), random));
  });
  await Promise.all(clients);
  return JSON.stringify(before) === JSON.stringify(await versions())
    ? []
    : [`${reads} reads have written to a schedule`];
};

/** Clients in a loop for as long as `during` lasts. */
const runClients = async (
  clients: number,
  step: () => Promise<void>,
  during: Promise<unknown>,
): Promise<void> => {
  let over = false;
  const loops = Array.from({ length: clients }, async () => {
    while (!over) await step();
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

/** One due instant, with all clients busy before and after it. `toDelete` are deleted around that time. */
const oneInstant = async (
  fixture: Fixture,
  { onlyRead, edited, toDelete }: Record<'onlyRead' | 'edited' | 'toDelete', TestSchedule[]>,
  holdFiring: boolean,
  random: Random,
): Promise<Done> => {
  const done: Done = { reads: 0, changes: [], deletions: [] };
  await until(() => nothingDue(fixture), 30_000);
  // Just before the next minute: the loop sleeps until then.
  await fixture.moveClock(minute - (fixture.now() % minute) - 150);
  await fixture.wake();
  const over = sleep(500);
  const reading = async () => {
    done.reads++;
    await must(readOne(fixture, pick(random, onlyRead), random));
  };
  const changing = async () => {
    done.changes.push(await changeOne(fixture, pick(random, edited), random));
  };
  const clients = [runClients(2, reading, over), runClients(4, changing, over)];
  // Held for a while, so that changes meet what is due.
  const { pid } = fixture.replicas[2]!.process!;
  if (holdFiring) {
    process.kill(pid, 'SIGSTOP');
    over.then(() => process.kill(pid, 'SIGCONT'));
  }
  await sleep(130 + random() * 60);
  for (const schedule of toDelete) done.deletions.push(await remove(fixture, schedule, random));
  await Promise.all(clients);
  return done;
};

/**
 * Clients of two replicas read schedules that are due. Then, at one due instant after another, they read, replace,
 * pause, resume and delete while a third replica fires. Every change is kept with its response.
 */
export const runEdits = async (options: EditsOptions): Promise<EditsReport> => {
  const random = seeded(options.seed);
  await using fixture = await Fixture.open('postgres', 3);
  const env = (ROLES: string) => ({ env: { ROLES, LOG_LEVEL: 'error' } });
  await Promise.all([fixture.start(0, env('api,delivery')), fixture.start(1, env('api,delivery'))]);
  const [onlyRead, edited, deleted] = [
    await make(fixture.api(), options.schedules),
    await make(fixture.api(), options.schedules),
    await make(fixture.api(), options.schedules),
  ];
  await fixture.moveClock(minute);
  const problems = await readWhileDue(fixture, [...onlyRead, ...edited], options.reads, random);
  await fixture.start(2, env('scheduler,delivery'));
  await until(() => nothingDue(fixture), 30_000);
  // Several occurrences that were due until now may have been skipped together, and a deletion removes that record.
  for (const schedule of deleted) schedule.definitions[0]!.after = fixture.now();

  const all: Done = { reads: options.reads, changes: [], deletions: [] };
  for (let instant = 0; instant < options.instants; instant++) {
    const last = Math.floor(((instant + 1) * deleted.length) / options.instants);
    const toDelete = deleted.slice(all.deletions.length, last);
    const done = await oneInstant(fixture, { onlyRead, edited, toDelete }, instant % 2 === 1, random);
    all.reads += done.reads;
    all.changes.push(...done.changes);
    all.deletions.push(...done.deletions);
  }
  await fixture.inspect(async (rows) => {
    problems.push(...(await deletedProblems(rows, all.deletions)));
    for (const schedule of edited) {
      const found = await definitionsOf(rows, schedule, all.changes, new Map(expressions));
      schedule.definitions = found.definitions;
      problems.push(...found.problems);
    }
  });
  const verification = await verifyWithProduct(fixture, [...onlyRead, ...edited]);
  const changes: Record<string, number> = { delete: all.deletions.length };
  for (const { kind } of all.changes) changes[kind] = (changes[kind] ?? 0) + 1;
  return { reads: all.reads, changes, problems, verification };
};
