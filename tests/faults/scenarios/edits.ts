import { setTimeout as sleep } from 'node:timers/promises';
import { int, pick, type Random, seeded } from '../../harness/cron-oracles.ts';
import type { Answer, Client } from '../../harness/http.ts';
import { until } from '../../harness/wait.ts';
import type { Account } from './account.ts';
import { nothingDue } from './due.ts';
import { type Change, definitionsOf, deletedProblems } from './edits-account.ts';
import { Ground, must } from './ground.ts';
import { closeAccount } from './product-account.ts';
import { type Matches, makeSchedule, type TestSchedule } from './test-schedules.ts';

const minute = 60_000;
const all: Matches = () => true;
/** Some mean the same in other words: for a PUT these are other times, and what is due is passed over. */
const expressions: [string, Matches][] = [
  ['* * * * *', all],
  ['*/1 * * * *', all],
  ['0-59 * * * *', all],
  ['*/2 * * * *', (m) => m % 2 === 0],
];

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

const pathOf = ({ agentId, id }: TestSchedule) => `/agents/${agentId}/schedules/${id}`;

/** What a client can read of a schedule, over either replica. */
const readOne = (ground: Ground, schedule: TestSchedule, random: Random): Promise<Answer> => {
  const replica = int(random, 0, 1);
  const [api, app] = [ground.api(replica), ground.api(replica, '/app/api')];
  const body = { cron_expression: '* * * * *', count: 5 };
  return pick(random, [
    () => api.get(pathOf(schedule)),
    () => api.get(`/agents/${schedule.agentId}/schedules`),
    () => app.get(`${pathOf(schedule)}/occurrences`),
    () => app.get(`${pathOf(schedule)}/audit`),
    () => app.post('/schedules/preview', body),
  ])();
};

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

/** A change of `schedule` over either replica, as it was answered. */
const changeOne = async (ground: Ground, schedule: TestSchedule, random: Random): Promise<Change> => {
  const replica = int(random, 0, 1);
  const [api, app] = [ground.api(replica), ground.api(replica, '/app/api')];
  const kind = pick(random, ['put', 'put', 'put', 'pause', 'resume', 'resume'] as const);
  const [text] = pick(random, expressions);
  const askedAt = ground.now();
  const answer = await (kind === 'put'
    ? api.put(pathOf(schedule), { cron_expression: text, catch_up: schedule.catchUp })
    : app.post(`${pathOf(schedule)}/${kind}`));
  const body = await must(Promise.resolve(answer));
  return {
    scheduleId: schedule.id,
    kind,
    revision: Number(answer.headers.get('etag')!.replaceAll('"', '')),
    expression: body.cron_expression as unknown as string,
    enabled: body.enabled as unknown as boolean,
    askedAt,
    answeredAt: ground.now(),
  };
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

  let reads = options.reads;
  const changes: Change[] = [];
  const deletions: { schedule: TestSchedule; askedAt: number; answeredAt: number }[] = [];
  for (let instant = 0; instant < options.instants; instant++) {
    await until(() => nothingDue(ground), 30_000);
    // Just before the next minute, so that it begins with all clients busy, and the loop asleep until then.
    await ground.moveClock(minute - (ground.now() % minute) - 150);
    await ground.wake();
    const over = sleep(500);
    const reading = meanwhile(
      2,
      async () => {
        reads++;
        await must(readOne(ground, pick(random, onlyRead), random));
      },
      over,
    );
    const changing = meanwhile(
      4,
      async () => void changes.push(await changeOne(ground, pick(random, edited), random)),
      over,
    );
    // At every second instant the one that fires is held for a while, so that changes find what is due.
    const { pid } = ground.replicas[2]!.process!;
    if (instant % 2 === 1) {
      process.kill(pid, 'SIGSTOP');
      over.then(() => process.kill(pid, 'SIGCONT'));
    }
    await sleep(130 + random() * 60);
    const last = Math.floor(((instant + 1) * deleted.length) / options.instants);
    for (const schedule of deleted.slice(deletions.length, last)) {
      const askedAt = ground.now();
      await must(ground.api(instant % 2).delete(pathOf(schedule)));
      deletions.push({ schedule, askedAt, answeredAt: ground.now() });
    }
    await Promise.all([reading, changing]);
  }
  await ground.inspect(async (rows) => {
    problems.push(...(await deletedProblems(rows, deletions)));
    for (const schedule of edited) {
      const found = await definitionsOf(rows, schedule, changes, new Map(expressions));
      schedule.definitions = found.definitions;
      problems.push(...found.problems);
    }
  });
  const account = await closeAccount(ground, [...onlyRead, ...edited]);
  const kinds = Object.groupBy(changes, ({ kind }) => kind);
  const counts = Object.fromEntries(Object.entries(kinds).map(([kind, list]) => [kind, list.length]));
  return { reads, changes: { ...counts, delete: deletions.length }, problems, account };
};
