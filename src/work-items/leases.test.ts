import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { testActor } from '../../tests/harness/api.ts';
import { eachDatabase } from '../../tests/harness/database.ts';
import { cancelEverything, itemOf, later, makeAgent, makeItems } from '../../tests/harness/work-items.ts';
import type { Executor, Tx } from '../database/index.ts';
import { claimWorkItems } from './claims.ts';
import { listEvents } from './history-store.ts';
import { workItemRuns } from './runs.ts';
import { act, cancelOpenWorkItems } from './work-items.ts';

const { finish, heartbeat, recoverLost, release, retry } = workItemRuns;

const actor = testActor;
const failure = { code: 'model_failed', message: 'The model did not reply.' };

/** Returns whether the lease was held. */
const setToolInFlight = async (tx: Tx, lease: { id: string; fencing: number; inFlight: boolean }) =>
  (await heartbeat(tx, { ...lease, leaseSeconds: 30, unsafe: lease.inFlight })).alive;

const nextWorkIn = async (executor: Executor) => (await workItemRuns.lookForWork(executor)).nextIn;

eachDatabase((_name, open) => {
  beforeEach(() => cancelEverything(open()));

  const claim = (limit = 10, owner = 'w1') =>
    open().tx((tx) => claimWorkItems(tx, { owner, limit, leaseSeconds: 30 }));

  /** One Work Item, claimed. */
  const claimed = async (settings: { max_attempts?: number } = {}) => {
    await makeItems(open(), await makeAgent(open(), settings), 1);
    return (await claim(1))[0]!;
  };

  /** The history, oldest first, as `from→to action`. */
  const historyOf = async (id: string) =>
    (await open().run((executor) => listEvents(executor, id, { limit: 100, next: null })))
      .map((event) => `${event.from}→${event.to} ${event.action}`)
      .toReversed();

  describe('claim', () => {
    test('takes the oldest first, counts the attempt and writes the history', async () => {
      const items = await makeItems(open(), await makeAgent(open()), 3);
      const got = await claim(2);
      expect(got.map((item) => item.id)).toEqual(items.slice(0, 2).map((item) => item.id));
      expect(got[0]).toMatchObject({ status: 'EXECUTING', attempts: 1, fencing: 1 });
      expect(got[0]!.started_at).toBeInstanceOf(Date);
      expect(await historyOf(got[0]!.id)).toEqual(['null→PENDING create', 'PENDING→EXECUTING claim']);
    });

    test('by many at once gives each Work Item to exactly one', async () => {
      const agents = await Promise.all(
        Array.from({ length: 5 }, () => makeAgent(open(), { max_concurrency: 100 })),
      );
      const items = (await Promise.all(agents.map((agent) => makeItems(open(), agent, 20)))).flat();
      const got = await Promise.all(Array.from({ length: 12 }, (_, i) => claim(10, `w${i}`)));
      const ids = got.flat().map((item) => item.id);
      expect(ids.length).toBe(100);
      expect(new Set(ids)).toEqual(new Set(items.map((item) => item.id)));
    });

    test('by many at once never exceeds an agent’s max_concurrency, and reaches it', async () => {
      const agent = await makeAgent(open(), { max_concurrency: 3 });
      await makeItems(open(), agent, 30);
      for (const round of [1, 2, 3]) {
        const got = (await Promise.all(Array.from({ length: 10 }, () => claim(2)))).flat();
        expect([round, got.length]).toEqual([round, 3]);
        for (const item of got.slice(0, 3)) {
          await open().tx((tx) => finish(tx, { ...item, status: 'COMPLETED', error: null }));
        }
      }
    });

    test('looks past agents that are full', async () => {
      const full = await makeAgent(open(), { max_concurrency: 1 });
      const free = await makeAgent(open(), { max_concurrency: 1 });
      await makeItems(open(), full, 20);
      const [behind] = await makeItems(open(), free, 1);
      const got = await claim(5);
      expect(got.map((item) => item.agent_id)).toEqual([full, free]);
      expect(got[1]!.id).toBe(behind!.id);
      expect(await claim(5)).toEqual([]);
    });

    test('leaves out the Work Items of a deleted agent', async () => {
      const agent = await makeAgent(open());
      await makeItems(open(), agent, 1);
      await open().tx((tx) => sql`delete from agents where id = ${agent}`.execute(tx));
      expect(await claim()).toEqual([]);
    });
  });

  describe('a lease', () => {
    test('is extended by its heartbeat, which reports a requested cancel', async () => {
      const item = await claimed();
      const beat = () => open().run((executor) => heartbeat(executor, { ...item, leaseSeconds: 30 }));
      expect(await beat()).toMatchObject({ alive: true, cancelRequested: false });
      await open().tx((tx) => act(tx, item, 'cancel', actor));
      expect(await beat()).toMatchObject({ alive: true, cancelRequested: true });
      expect(await later(open(), 29, (tx) => recoverLost(tx, 10))).toEqual([]);
      expect(await later(open(), 31, (tx) => recoverLost(tx, 10))).toHaveLength(1);
      expect(await beat()).toMatchObject({ alive: false, cancelRequested: false });
    });

    test('that is lost gives the Work Item to another worker while attempts are left, otherwise it is an ERROR', async () => {
      const { id } = await claimed({ max_attempts: 2 });
      await later(open(), 31, (tx) => recoverLost(tx, 10));
      expect(await itemOf(open(), id)).toMatchObject({ status: 'PENDING', attempts: 1, error: null });
      const [again] = await claim();
      expect(again).toMatchObject({ id, attempts: 2, fencing: 2 });
      await later(open(), 31, (tx) => recoverLost(tx, 10));
      expect(await itemOf(open(), id)).toMatchObject({ status: 'ERROR', error: { code: 'lease_lost' } });
      expect(await historyOf(id)).toEqual([
        'null→PENDING create',
        'PENDING→EXECUTING claim',
        'EXECUTING→PENDING lease_lost',
        'PENDING→EXECUTING claim',
        'EXECUTING→ERROR lease_lost',
      ]);
    });

    test('that is lost during a tool call that must not be repeated leaves INDETERMINATE', async () => {
      const item = await claimed();
      expect(await open().tx((tx) => setToolInFlight(tx, { ...item, inFlight: true }))).toBe(true);
      await later(open(), 31, (tx) => recoverLost(tx, 10));
      expect(await itemOf(open(), item.id)).toMatchObject({
        status: 'INDETERMINATE',
        error: { code: 'indeterminate' },
        finished_at: null,
      });
    });

    test('that is lost after a cancel was requested leaves CANCELLED', async () => {
      const item = await claimed();
      await open().tx((tx) => act(tx, item, 'cancel', actor));
      await later(open(), 31, (tx) => recoverLost(tx, 10));
      expect(await itemOf(open(), item.id)).toMatchObject({ status: 'CANCELLED' });
    });

    test('that is lost is recovered once, however many try', async () => {
      await makeItems(open(), await makeAgent(open(), { max_concurrency: 20 }), 20);
      await claim(20);
      const got = await Promise.all(
        Array.from({ length: 8 }, () => later(open(), 31, (tx) => recoverLost(tx, 5))),
      );
      const ids = got.flat().map((item) => item.id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBe(20);
    });
  });

  describe('a late result', () => {
    test('changes nothing and is recorded', async () => {
      const item = await claimed();
      await later(open(), 31, (tx) => recoverLost(tx, 10));
      const [second] = await claim();
      const before = await itemOf(open(), item.id);
      const result = { ...item, status: 'COMPLETED', result: 'late', error: null, usage: null } as const;
      expect(await open().tx((tx) => finish(tx, result))).toBeNull();
      expect(await open().tx((tx) => retry(tx, { ...item, usage: null, error: failure }))).toBeNull();
      expect(await open().tx((tx) => release(tx, item))).toBeNull();
      expect(await open().tx((tx) => setToolInFlight(tx, { ...item, inFlight: true }))).toBe(false);
      expect(await itemOf(open(), item.id)).toEqual(before);
      expect((await historyOf(item.id)).slice(-2)).toEqual([
        'EXECUTING→EXECUTING late_result',
        'EXECUTING→EXECUTING late_result',
      ]);
      expect(
        await open().tx((tx) => finish(tx, { ...second!, status: 'COMPLETED', result: 1, error: null })),
      ).toMatchObject({
        status: 'COMPLETED',
        result: 1,
      });
    });

    test('is the second of two results of one claim', async () => {
      const item = await claimed();
      const results = await Promise.all(
        (['COMPLETED', 'ERROR'] as const).map((status) =>
          open().tx((tx) => finish(tx, { ...item, status, error: null })),
        ),
      );
      expect(results.filter((result) => result !== null)).toHaveLength(1);
    });

    test('is not one that was committed before the cancel', async () => {
      const item = await claimed();
      await open().tx((tx) => finish(tx, { ...item, status: 'COMPLETED', result: 'done', error: null }));
      await expect(open().tx((tx) => act(tx, item, 'cancel', actor))).rejects.toMatchObject({ status: 412 });
      expect(await itemOf(open(), item.id)).toMatchObject({ status: 'COMPLETED', result: 'done' });
    });
  });

  test('a failed attempt is tried again later while attempts are left, otherwise it is an ERROR', async () => {
    const item = await claimed({ max_attempts: 2 });
    const after = await open().tx((tx) => retry(tx, { ...item, error: failure }));
    expect(after).toMatchObject({ status: 'PENDING', attempts: 1, finished_at: null });
    expect(await claim()).toEqual([]);
    const wait = await open().run(nextWorkIn);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(2_000);
    const again = await later(open(), 3, (tx) =>
      claimWorkItems(tx, { owner: 'w', limit: 1, leaseSeconds: 30 }),
    );
    expect(again[0]!.id).toBe(item.id);
    const last = await open().tx((tx) => retry(tx, { ...again[0]!, error: failure }));
    expect(last).toMatchObject({ status: 'ERROR', error: failure });
    expect(last!.finished_at).toBeInstanceOf(Date);
  });

  test('a failed attempt whose cancel was requested is CANCELLED', async () => {
    const item = await claimed();
    await open().tx((tx) => act(tx, item, 'cancel', actor));
    expect(await open().tx((tx) => retry(tx, { ...item, error: failure }))).toMatchObject({
      status: 'CANCELLED',
    });
  });

  test('a release does not count as an attempt, and the Work Item is claimed again at once', async () => {
    const item = await claimed();
    expect(await open().tx((tx) => release(tx, item))).toMatchObject({ status: 'PENDING', attempts: 0 });
    expect(await claim()).toMatchObject([{ id: item.id, attempts: 1, fencing: 2 }]);
  });

  test('a release during a tool call that must not be repeated leaves INDETERMINATE', async () => {
    const item = await claimed();
    await open().tx((tx) => setToolInFlight(tx, { ...item, inFlight: true }));
    expect(await open().tx((tx) => release(tx, item))).toMatchObject({
      status: 'INDETERMINATE',
      attempts: 1,
    });
  });

  test('the next work is due when the earliest lease expires, or never', async () => {
    expect(await open().run(nextWorkIn)).toBeNull();
    const item = await claimed();
    const wait = await open().run(nextWorkIn);
    expect(wait).toBeGreaterThan(25_000);
    expect(wait).toBeLessThanOrEqual(30_000);
    expect(await later(open(), 60, nextWorkIn)).toBe(0);
    await open().tx((tx) => finish(tx, { ...item, status: 'COMPLETED', error: null }));
    expect(await open().run(nextWorkIn)).toBeNull();
  });

  test('the open Work Items of a deleted agent are cancelled; those that execute are requested to end', async () => {
    const agent = await makeAgent(open());
    const items = await makeItems(open(), agent, 3);
    const [executing] = await claim(1);
    await open().tx(async (tx) => {
      await sql`delete from agents where id = ${agent}`.execute(tx);
      await cancelOpenWorkItems(tx, agent, testActor);
    });
    expect((await itemOf(open(), items[1]!.id)).status).toBe('CANCELLED');
    const asked = await itemOf(open(), executing!.id);
    expect([asked.status, asked.cancel_requested_at]).toEqual(['EXECUTING', expect.any(Date)]);
    expect(await open().tx((tx) => finish(tx, { ...asked, status: 'CANCELLED', error: null }))).toMatchObject(
      {
        status: 'CANCELLED',
      },
    );
    await expect(open().tx((tx) => act(tx, asked, 'restart', actor))).rejects.toMatchObject({
      status: 412,
      context: { status: 'CANCELLED', allowed_actions: [] },
    });
  });

  test('the history has no gap, even if several race for a Work Item', async () => {
    const item = await claimed();
    await Promise.all([
      open()
        .tx((tx) => act(tx, item, 'cancel', actor))
        .catch(() => null),
      open().tx((tx) => finish(tx, { ...item, status: 'NEEDS_REVIEW', error: null })),
      later(open(), 31, (tx) => recoverLost(tx, 10)),
      open()
        .tx((tx) => act(tx, item, 'continue', actor))
        .catch(() => null),
      claim(1, 'w2'),
    ]);
    const history = (await historyOf(item.id)).map((line) => line.split(' ')[0]!.split('→'));
    for (let i = 1; i < history.length; i++) expect(history[i]![0]).toBe(history[i - 1]![1]);
    expect(history.at(-1)![1]).toBe((await itemOf(open(), item.id)).status);
  });
});
