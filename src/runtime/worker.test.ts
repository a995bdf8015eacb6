import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { onPostgres } from '../../tests/harness/database.ts';
import { completion, type Reply, startEndpoint, wireCall } from '../../tests/harness/llm-endpoint.ts';
import {
  becomes,
  conversationOf,
  fakeTool,
  historyOf,
  loseLease,
  makeAgent,
  makeItem,
  makeLlm,
  newRuntime,
  type TestRuntime,
} from '../../tests/harness/runtime.ts';
import { until } from '../../tests/harness/wait.ts';
import { itemOf } from '../../tests/harness/work-items.ts';
import type { Database, Executor } from '../database/index.ts';
import { silentLogger } from '../lib/log.ts';
import { workItemCalls, workItemRuns } from '../work-items/index.ts';
import { holdLease, RunEnded } from './lease.ts';

const reasonOf = (signal: AbortSignal) => (signal.reason as RunEnded | undefined)?.reason;

onPostgres((_name, open) => {
  const runtimes: TestRuntime[] = [];
  /** The ids of the Work Items, one for each call. */
  const called: string[] = [];
  const stuck = fakeTool('stuck', (_args, { runId }) => {
    called.push(runId);
    return new Promise(() => {});
  });
  const count = fakeTool('count', async (_args, { runId }) => {
    called.push(runId);
    return { text: 'counted' };
  });

  /** They listen before any is started, as in the platform: on the embedded database no one may LISTEN later. */
  const make = async (given: Parameters<typeof newRuntime>[1] = {}): Promise<TestRuntime> => {
    const runtime = await newRuntime(open(), { tools: [stuck, count], ...given });
    runtimes.push(runtime);
    return runtime;
  };
  const start = async (given: Parameters<typeof newRuntime>[1] = {}): Promise<TestRuntime> => {
    const runtime = await make(given);
    runtime.start();
    return runtime;
  };
  beforeEach(() => void called.splice(0));
  afterEach(async () => {
    await Promise.all(runtimes.splice(0).map((runtime) => runtime.stop()));
    await open().tx((tx) =>
      sql`update work_items set status = 'CANCELLED', lease_expires_at = null
        where status in ('PENDING', 'EXECUTING')`.execute(tx),
    );
  });

  test('many workers complete each Work Item once', async () => {
    const agent = await makeAgent(open());
    const steps = [{ tool: 'count', delay_ms: 5 }, { text: 'done' }];
    const items = await Promise.all(Array.from({ length: 40 }, () => makeItem(open(), agent, { steps })));
    for (let i = 0; i < 4; i++) await make();
    for (const runtime of runtimes) runtime.start();
    for (const { id } of items) await becomes(open(), id, 'COMPLETED');
    expect(called.toSorted()).toEqual(items.map((item) => item.id).toSorted());
    for (const { id } of items) {
      expect(await historyOf(open(), id)).toEqual(['create→PENDING', 'claim→EXECUTING', 'finish→COMPLETED']);
    }
  });

  test('a worker runs at most its maximum at once, and claims the next when one is done', async () => {
    const agent = await makeAgent(open());
    const items = await Promise.all(
      Array.from({ length: 5 }, () => makeItem(open(), agent, { delay_ms: 200 })),
    );
    await start({ settings: { MAX_CONCURRENT_WORK_ITEMS: 2 } });
    const ids = items.map(({ id }) => id);
    let most = 0;
    await until(
      async () => {
        // In one statement: a read of each would count what ended in between.
        const { rows } = await open().run((reader) =>
          sql<{ status: string }>`select status from work_items where id = any(${ids})`.execute(reader),
        );
        most = Math.max(most, rows.filter(({ status }) => status === 'EXECUTING').length);
        return rows.every(({ status }) => status === 'COMPLETED');
      },
      10_000,
      5,
    );
    expect(most).toBe(2);
  });

  describe('a stop', () => {
    test('releases what is in flight without counting an attempt, and another worker continues it', async () => {
      await using endpoint = await startEndpoint((_asked, n): Reply => {
        if (n === 0) return { body: completion({ tool_calls: [wireCall('c1', 'count', {})] }, 'tool_calls') };
        return n === 1 ? 'hang' : { body: completion({ content: 'Done.' }) };
      });
      const agent = await makeAgent(open(), { llm_id: await makeLlm(open(), endpoint.url, 'key') });
      const { id } = await makeItem(open(), agent);
      const second = await make();
      const first = await start();
      await endpoint.waitForRequests(2);
      await first.stop();
      expect(await itemOf(open(), id)).toMatchObject({ status: 'PENDING', attempts: 0, error: null });
      expect((await historyOf(open(), id)).at(-1)).toBe('hand_back→PENDING');
      second.start();
      const done = await becomes(open(), id, 'COMPLETED');
      expect(done).toMatchObject({ result: 'Done.', attempts: 1 });
      expect(called).toEqual([id]);
    });

    test('lets a run that is nearly done finish', async () => {
      const { id } = await makeItem(open(), await makeAgent(open()), {
        steps: [{ text: 'ok', delay_ms: 400 }],
      });
      const runtime = await start({ graceMs: 5_000 });
      await until(async () => (await itemOf(open(), id)).status !== 'PENDING');
      await runtime.stop();
      expect(await itemOf(open(), id)).toMatchObject({ status: 'COMPLETED', result: 'ok' });
    });

    test('during a call that must not be repeated leaves the Work Item to a person', async () => {
      const { id } = await makeItem(open(), await makeAgent(open()), { steps: [{ tool: 'stuck' }] });
      const runtime = await start();
      await expect.poll(() => called.length).toBe(1);
      await runtime.stop();
      expect(await itemOf(open(), id)).toMatchObject({
        status: 'INDETERMINATE',
        error: { code: 'indeterminate' },
      });
    });
  });

  describe('a lost lease', () => {
    test('gives the Work Item to another worker; the late result changes nothing and is recorded', async () => {
      let release = (_reply: Reply) => {};
      await using endpoint = await startEndpoint((_asked, n) =>
        n === 0
          ? new Promise<Reply>((resolve) => {
              release = resolve;
            })
          : { body: completion({ content: 'In time.' }) },
      );
      const agent = await makeAgent(open(), { llm_id: await makeLlm(open(), endpoint.url, 'key') });
      const { id } = await makeItem(open(), agent);
      // A long lease: its heartbeat does not notice the loss before the reply comes.
      await start({ settings: { WORK_ITEM_LEASE_SECONDS: 3_600 } });
      await endpoint.waitForRequests(1);
      await loseLease(open(), id);
      const done = await becomes(open(), id, 'COMPLETED');
      release({ body: completion({ content: 'Too late.' }) });
      await expect
        .poll(() => historyOf(open(), id))
        .toEqual([
          'create→PENDING',
          'claim→EXECUTING',
          'lease_lost→PENDING',
          'claim→EXECUTING',
          'finish→COMPLETED',
          'late_result→COMPLETED',
        ]);
      expect(await itemOf(open(), id)).toEqual(done);
      expect((await conversationOf(open(), done)).join()).not.toContain('Too late.');
    });

    test('during a call that must not be repeated makes the Work Item INDETERMINATE', async () => {
      const { id } = await makeItem(open(), await makeAgent(open()), { steps: [{ tool: 'stuck' }] });
      await start({ settings: { WORK_ITEM_LEASE_SECONDS: 3_600 } });
      await expect.poll(() => called.length).toBe(1);
      await loseLease(open(), id);
      await becomes(open(), id, 'INDETERMINATE');
      expect(called).toEqual([id]);
    });
  });

  describe('the heartbeat', () => {
    const held = async (leaseSeconds: number, db = open()) => {
      const { id } = await makeItem(open(), await makeAgent(open()));
      const [item] = await open().tx((tx) =>
        workItemCalls.claim(tx, { owner: 'w', limit: 1, leaseSeconds: 60 }),
      );
      expect(item!.id).toBe(id);
      const lease = { id, fencing: item!.fencing, leaseSeconds };
      const beat = (executor: Executor) => workItemRuns.heartbeat(executor, lease);
      return { id, lease, held: holdLease(db, silentLogger, { ...lease, beat }) };
    };
    const change = (id: string, set: ReturnType<typeof sql>) =>
      open().tx((tx) => sql`update work_items set ${set} where id = ${id}`.execute(tx));
    const secondsLeft = async (id: string) => {
      const { rows } = await open().run((executor) =>
        sql<{ left: number }>`select extract(epoch from lease_expires_at - platform_now())::float8 as left
          from work_items where id = ${id}`.execute(executor),
      );
      return rows[0]!.left;
    };

    test('extends the lease until it is released', async () => {
      const { id, held: one } = await held(0.3);
      await expect.poll(() => secondsLeft(id)).toBeLessThan(1);
      await change(id, sql`lease_expires_at = platform_now() - interval '1 hour'`);
      await expect.poll(() => secondsLeft(id)).toBeGreaterThan(0);
      one.release();
      expect(one.signal.aborted).toBe(false);
    });

    test('of a lease of an hour notices a cancel within 10 s, though its notification was lost', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const { id, held: one } = await held(3_600);
        await change(id, sql`cancel_requested_at = platform_now()`);
        vi.advanceTimersByTime(10_000);
        vi.useRealTimers();
        await expect.poll(() => reasonOf(one.signal)).toBe('cancelled');
        one.release();
      } finally {
        vi.useRealTimers();
      }
    });

    test('notices a cancel whose notification was lost, and the loss of the lease', async () => {
      const first = await held(0.15);
      await change(first.id, sql`cancel_requested_at = platform_now()`);
      await expect.poll(() => reasonOf(first.held.signal)).toBe('cancelled');
      first.held.release();
      const second = await held(0.15);
      await change(second.id, sql`fencing = fencing + 1`);
      await expect.poll(() => reasonOf(second.held.signal)).toBe('lost');
      second.held.release();
    });

    test('gives up the lease if the database does not respond for as long', async () => {
      const away = { ...open(), run: () => Promise.reject(new Error('away')) } as Database;
      const { held: one } = await held(0.1, away);
      await expect.poll(() => reasonOf(one.signal)).toBe('lost');
      one.release();
    });

    test('nothing is stored without the lease', async () => {
      const { id, held: one, lease } = await held(60);
      expect(await one.store(async () => 'stored')).toBe('stored');
      const error = { code: 'x', message: 'x' };
      await open().tx((tx) => workItemRuns.retry(tx, { ...lease, error, waitSeconds: 1_000 }));
      await expect(one.store(async () => 'stored')).rejects.toThrow(RunEnded);
      expect(reasonOf(one.signal)).toBe('lost');
      one.release();
      const { rows } = await open().run((executor) =>
        sql<{ wait: number }>`select extract(epoch from not_before - platform_now())::float8 as wait
          from work_items where id = ${id}`.execute(executor),
      );
      expect(rows[0]!.wait).toBeGreaterThan(900);
    });
  });
});
