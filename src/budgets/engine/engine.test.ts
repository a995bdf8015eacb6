import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  changeBudget,
  charge,
  charged,
  insertBudget,
  type PeriodTotals,
  reserve,
  startEngine,
  subjects,
  totals,
} from '../../../tests/harness/budgets.ts';
import { openMigrated, testedDatabases } from '../../../tests/harness/database.ts';
import { interceptStatements } from '../../../tests/harness/statements.ts';
import { until } from '../../../tests/harness/wait.ts';
import { type Database, json, sql } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import { insertBudget as createBudgetRow, deleteBudgetRow, findBudget } from '../store.ts';
import type { BudgetEngine } from './engine.ts';
import { BudgetExceeded, PriceUnknown } from './refusals.ts';
import { settleShares } from './settle.ts';
import { createPeriods, grantShares, insertReplica } from './store.ts';

/** Calls until the budget refuses one. Returns the error. */
const spendAll = async (db: Database, engine: BudgetEngine, bound: number): Promise<unknown> => {
  for (;;) {
    try {
      const reservation = await reserve(engine, bound);
      await charge(db, reservation, 1 + Math.floor(Math.random() * bound));
    } catch (error) {
      return error;
    }
  }
};

test.each(testedDatabases)(
  'calls of four replicas never hold more than the limit, and leave less than a bound of it (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    const limit = 20_000;
    const bound = 100;
    await insertBudget(db, { limit });
    const engines = await Promise.all([1, 2, 3, 4].map(() => startEngine(db, { leaseSeconds: 2 })));
    let isDone = false;
    const seen: number[] = [];
    const polls = (async () => {
      while (!isDone) {
        for (const { spent, reserved } of await totals(db)) seen.push(spent + reserved);
        await sleep(5);
      }
    })();
    const callers = engines.flatMap((engine) =>
      Array.from({ length: 16 }, () => spendAll(db, engine, bound)),
    );
    const errors = await Promise.all(callers);
    isDone = true;
    await polls;
    expect(errors.filter((error) => !(error instanceof BudgetExceeded))).toEqual([]);
    expect(Math.max(...seen)).toBeLessThanOrEqual(limit);
    const [end] = await totals(db);
    expect(end!.spent).toBe((await charged(db)).amount);
    expect(limit - end!.spent).toBeLessThan(bound);
    await until(async () => (await totals(db))[0]!.reserved === 0, 5_000);
    await Promise.all(engines.map((engine) => engine.stop()));
  },
);

test.each(testedDatabases)('a call reserves in all of its budgets or in none (%s)', async (kind) => {
  await using db = await openMigrated(kind);
  await insertBudget(db, { limit: 1_000 });
  await insertBudget(db, { limit: 150, scope: { kind: 'agent', id: null } });
  const engine = await startEngine(db);
  const agentId = 'a';
  const first = await reserve(engine, 100, { agentId });
  const error = await reserve(engine, 200, { agentId }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    name: 'BudgetExceeded',
    subjectId: agentId,
    limit: 150,
    bound: 200,
    spent: 0,
  });
  await charge(db, first, 60);
  const unknown = await reserve(engine, 90, { agentId });
  const rows = unknown.settlement({ amountNanoUsd: null, assumedNanoUsd: unknown.boundNanoUsd, tokens: 0 });
  expect(rows.map(({ spent, assumed }) => [spent, assumed])).toEqual([
    [90, 90],
    [90, 90],
  ]);
  unknown.release();
  await engine.stop();
  expect((await totals(db)).map(({ subject_id, spent }) => [subject_id, spent])).toEqual([
    ['', 60],
    ['a', 60],
  ]);
});

test.each(testedDatabases)(
  'a call waits while others only hold the room, and no longer than a minute (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    await insertBudget(db, { limit: 100 });
    const engine = await startEngine(db, { leaseSeconds: 2 });
    const other = await startEngine(db, { leaseSeconds: 2, patienceMs: 0 });
    const first = await reserve(engine, 100);
    await expect(reserve(other, 100)).rejects.toBeInstanceOf(BudgetExceeded);
    let isDone = false;
    const second = reserve(engine, 40).finally(() => {
      isDone = true;
    });
    await expect(
      Promise.race([second, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))]),
    ).resolves.toBe('waits');
    expect(isDone).toBe(false);
    await charge(db, first, 60);
    await charge(db, await second, 40);
    await expect(reserve(engine, 1)).rejects.toThrow(
      /^The budget .* has no room: 0\.0000001 USD of 0\.0000001 USD are spent, and the call may use up to 0\.000000001 USD\. Its period ends at \d{4}-/,
    );
    await engine.stop();
    await other.stop();
  },
);

test.each(testedDatabases)(
  'a raised limit, a disabled and a deleted budget let waiting calls go on (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    const id = await insertBudget(db, { limit: 100 });
    const engine = await startEngine(db);
    const first = await reserve(engine, 100);
    const second = reserve(engine, 50);
    await changeBudget(db, id, { limit: 150 });
    const third = second.then(() => reserve(engine, 50));
    await second;
    await changeBudget(db, id, { enabled: false });
    await charge(db, await third, 500);
    await charge(db, first, 20);
    expect((await totals(db))[0]).toMatchObject({ spent: 520 });
    await changeBudget(db, id, { enabled: true });
    await until(() =>
      reserve(engine, 1).then(
        (one) => one.release(),
        (error) => error instanceof BudgetExceeded,
      ),
    );
    await db.run((executor) => sql`delete from budgets`.execute(executor));
    await until(() => reserve(engine, 1).then(() => true));
    await engine.stop();
  },
);

test.each(testedDatabases)(
  'a call without a price is refused under a budget of money, and only there (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    const unpriced = (engine: BudgetEngine, agentId: string) =>
      engine.reserve({
        subjects: { agentId, scheduleId: null, triggerId: null, personId: null, apiKeyId: null, llmId: null },
        bound: () => ({ nanoUsd: 0, tokens: 10, priceUnknown: true, model: 'house-1' }),
        signal: new AbortController().signal,
      });
    await insertBudget(db, { limit: 100, unit: 'tokens' });
    await insertBudget(db, { limit: 100, scope: { kind: 'agent', id: 'a' } });
    const strict = await startEngine(db);
    const lenient = await startEngine(db, { allowsUnknownPrice: true });
    (await unpriced(strict, 'b')).release();
    const error = await unpriced(strict, 'a').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PriceUnknown);
    expect((error as Error).message).toContain('house-1');
    const allowed = await unpriced(lenient, 'a');
    expect(allowed.boundNanoUsd).toBe(null);
    expect(
      allowed.settlement({ amountNanoUsd: null, assumedNanoUsd: null, tokens: 7 }).map(({ spent }) => spent),
    ).toEqual([7, 0]);
    allowed.release();
    await strict.stop();
    await lenient.stop();
  },
);

test.each(testedDatabases)(
  'charges without shares count, and calls before the beginning of a budget do not (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    await insertBudget(db, { limit: 100, effectiveFrom: new Date(Date.now() + 60_000) });
    const engine = await startEngine(db);
    await charge(db, await reserve(engine, 1_000), 1_000);
    await insertBudget(db, { limit: 100 });
    await engine.refresh();
    const external = await engine.count(subjects());
    await charge(db, external, 70);
    expect(await totals(db)).toMatchObject([{ spent: 70, reserved: 0 }]);
    // Rows of what is spent do not collect where no call is reserved.
    await until(async () => {
      const { rows } = await db.run((executor) =>
        sql<{
          closed: number;
          n: number;
        }>`select closed, (select count(*)::integer from budget_settlements) as n
          from budget_periods`.execute(executor),
      );
      return rows[0]!.closed === 70 && rows[0]!.n === 0;
    });
    expect(await totals(db)).toMatchObject([{ spent: 70, reserved: 0 }]);
    await expect(reserve(engine, 31)).rejects.toBeInstanceOf(BudgetExceeded);
    await charge(db, await reserve(engine, 30), 30);
    expect(await totals(db)).toMatchObject([{ spent: 100 }]);
    await engine.stop();
  },
);

/** The next statement that has `part` is executed, and its response is lost. */
const loseResponseOf = (part: string) => {
  let isLost = false;
  const interception = interceptStatements(async (statement, send) => {
    const result = await send(statement);
    if (isLost || !statement.text.includes(part)) return result;
    isLost = true;
    throw new Error('Connection terminated unexpectedly');
  });
  return { isLost: () => isLost, [Symbol.dispose]: () => interception[Symbol.dispose]() };
};

test.each(testedDatabases)(
  'room that was granted by a transaction whose end is not known is given back, and so is a share whose return is not known (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    await insertBudget(db, { limit: 10_000 });
    const engine = await startEngine(db);
    {
      using grant = loseResponseOf('grant_budget_shares');
      await charge(db, await reserve(engine, 100), 60);
      expect(grant.isLost()).toBe(true);
    }
    {
      using back = loseResponseOf('return_budget_shares');
      await until(() => back.isLost(), 5_000);
    }
    await until(async () => (await totals(db))[0]!.reserved === 0, 5_000);
    expect(await totals(db)).toMatchObject([{ spent: 60, reserved: 0 }]);
    await until(() => engine.held().length === 0, 5_000);
    await engine.stop();
  },
);

test.each(testedDatabases)('the shares of a deleted budget are forgotten (%s)', async (kind) => {
  await using db = await openMigrated(kind);
  const id = await insertBudget(db, { limit: 10_000 });
  await insertBudget(db, { limit: 10_000 });
  const engine = await startEngine(db);
  const open = await reserve(engine, 100);
  await db.tx((tx) => deleteBudgetRow(tx, id));
  await charge(db, open, 60);
  await until(() => engine.held().length === 0, 5_000);
  await engine.stop();
});

test.each(testedDatabases)(
  'sums of the largest amounts stay numbers, and a budget that holds them refuses (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    await insertBudget(db, { limit: 9e15 });
    await insertBudget(db, { limit: 9e15 });
    const engine = await startEngine(db);
    const most = { amountNanoUsd: 9e15, assumedNanoUsd: null, tokens: 0 };
    for (let n = 0; n < 2; n++) {
      const counted = await engine.count(subjects());
      const rows = Array.from({ length: 1_100 }, () => counted.settlement(most)).flat();
      await db.run((executor) =>
        sql`with ${settleShares(sql`${json(rows)}::jsonb`)} select`.execute(executor),
      );
      const isOf = (n: number) => expect.objectContaining({ spent: n });
      expect(await totals(db)).toEqual([isOf(9e15), isOf(9e15)]);
      // The refusal adds what is late to its period.
      await expect(reserve(engine, 1)).rejects.toBeInstanceOf(BudgetExceeded);
    }
    await engine.stop();
  },
);

test.each(testedDatabases)(
  'a budget counts from two seconds after its creation on, however long that takes (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    const id = newId();
    const fields = { unit: 'nano_usd', limit: 1, period: 'day', timezone: 'UTC', action: 'refuse' } as const;
    const more = { name: 'slow', llm_id: null, from_percent: 80, notify_percent: [], enabled: true };
    await db.tx(async (tx) => {
      await createBudgetRow(tx, id, { ...fields, ...more, scope: { kind: 'workspace', id: null } });
      await sleep(700);
    });
    const created = await db.run((executor) => findBudget(executor, id, true));
    const after = created!.effective_from.getTime() - created!.created_at.getTime();
    expect(after).toBeGreaterThan(2_600);
  },
);

test.each(testedDatabases)(
  'the first calls of a subject that no replica knows yet share its limit, in every budget that counts them (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    await insertBudget(db, { limit: 300, scope: { kind: 'agent', id: null } });
    await insertBudget(db, { limit: 500, scope: { kind: 'person', id: null } });
    await insertBudget(db, { limit: 10_000 });
    const engines = await Promise.all([1, 2, 3, 4].map(() => startEngine(db, { patienceMs: 0 })));
    const at = (agentId: string, personId: string) =>
      engines.flatMap((engine) =>
        Array.from({ length: 4 }, () => reserve(engine, 100, { agentId, personId }).catch(() => null)),
      );
    const made = await Promise.all([...at('a', 'p'), ...at('b', 'p')]);
    const calls = made.filter((one) => one !== null);
    // 500 of one person, of two agents with 300 each. A refusal is final here, though others only hold the room.
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.length).toBeLessThanOrEqual(5);
    for (const { limit, spent, reserved } of await totals(db))
      expect(spent + reserved).toBeLessThanOrEqual(limit);
    for (const call of calls) await charge(db, call, 100);
    const spent = calls.length * 100;
    const all = await totals(db);
    expect(all.filter(({ subject_id }) => subject_id === 'p')).toMatchObject([{ spent }]);
    expect(all.filter(({ subject_id }) => subject_id === '')).toMatchObject([{ spent }]);
    const ofAgents = all.filter(({ subject_id }) => ['a', 'b'].includes(subject_id));
    expect(ofAgents.reduce((sum, one) => sum + one.spent, 0)).toBe(spent);
    await Promise.all(engines.map((engine) => engine.stop()));
  },
);

test.each(testedDatabases)(
  'no call begins while the budgets cannot be read, also one that no budget counted before; it goes on after (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    await insertBudget(db, { limit: 1_000, scope: { kind: 'agent', id: 'a' } });
    const engine = await startEngine(db, { leaseSeconds: 1 });
    (await reserve(engine, 100, { agentId: 'a' })).release();
    const begun: string[] = [];
    const calls: Promise<unknown>[] = [];
    const gaveUp = new AbortController();
    {
      using _ = interceptStatements(async () => {
        throw new Error('Connection terminated unexpectedly');
      });
      // The copy is confirmed for half of the lease.
      await sleep(600);
      for (const agentId of ['a', 'b']) {
        const call = reserve(engine, 100, { agentId }).then((one) => {
          begun.push(agentId);
          one.release();
        });
        calls.push(call);
      }
      const given = reserve(engine, 100, { agentId: 'a' }, gaveUp.signal);
      gaveUp.abort(new Error('the caller left'));
      await expect(given).rejects.toThrow('the caller left');
      await expect(engine.limits(subjects({ agentId: 'b' }))).resolves.toBe(true);
      await expect(engine.count(subjects())).rejects.toThrow();
      await sleep(300);
      expect(begun).toEqual([]);
    }
    await Promise.all(calls);
    expect(begun.sort()).toEqual(['a', 'b']);
    await engine.stop();
  },
);

test.each(testedDatabases)(
  'what was spent is known to a replica that has just started, and to the next period alone it is not (%s)',
  async (kind) => {
    await using db = await openMigrated(kind);
    const clock = (now: string) =>
      db.run((executor) =>
        sql`create or replace function platform_now() returns timestamptz(3) language sql stable as ${sql.lit(
          `select '${now}'::timestamptz(3)`,
        )}`.execute(executor),
      );
    // The month in which Berlin begins its summer time ends an hour earlier by UTC than the one before.
    await clock('2027-03-31T21:59:58Z');
    await insertBudget(db, { limit: 100, timezone: 'Europe/Berlin' });
    const first = await startEngine(db, { patienceMs: 0 });
    const spent = await reserve(first, 60);
    const across = await reserve(first, 40);
    await charge(db, spent, 60);
    await first.stop();
    const second = await startEngine(db, { patienceMs: 0 });
    await expect(reserve(second, 41)).rejects.toMatchObject({
      spent: 60,
      endsAt: new Date('2027-03-31T22:00:00Z'),
    });
    await clock('2027-03-31T22:00:00Z');
    await second.refresh();
    await charge(db, await reserve(second, 100), 90);
    // A call counts in the period in which it began, also if it ends in the next one.
    await charge(db, across, 40);
    const { rows } = await db.run((executor) =>
      sql<{ starts_at: Date; spent: number }>`select p.starts_at, t.spent
        from budget_periods p join budget_totals t on t.period_id = p.id order by p.starts_at`.execute(
        executor,
      ),
    );
    expect(rows).toEqual([
      { starts_at: new Date('2027-02-28T23:00:00Z'), spent: 100 },
      { starts_at: new Date('2027-03-31T22:00:00Z'), spent: 90 },
    ]);
    await second.stop();
  },
);

test.each(testedDatabases)('a replica that stops leaves no call waiting (%s)', async (kind) => {
  await using db = await openMigrated(kind);
  await insertBudget(db, { limit: 100 });
  const engine = await startEngine(db);
  (await reserve(engine, 10)).release();
  await engine.stop();
  await expect(reserve(engine, 10)).rejects.toThrow('the replica stops');
});

test.runIf(testedDatabases.includes('postgres'))(
  'grants of one period wait for each other, and see what the others were granted; without that lock they exceed the limit',
  async () => {
    await using db = await openMigrated('postgres');
    const id = await insertBudget(db, { limit: 100 });
    const key = { budget_id: id, subject_id: '', starts_at: new Date(0), ends_at: null };
    await db.tx((tx) => createPeriods(tx, [{ ...key, period_id: newId() }]));
    const grantTwice = async (): Promise<number> => {
      const { promise: isGranted, resolve: granted } = Promise.withResolvers<void>();
      const grant = async (before: Promise<void>, after: (done: Promise<unknown>) => Promise<unknown>) => {
        const replica = newId();
        await db.run((executor) => insertReplica(executor, replica));
        await before;
        await db.tx(async (tx) => {
          const need = { ...key, period_id: newId(), share_id: newId(), short: 100, bound: 100, more: false };
          await after(grantShares(tx, replica, [[need]]));
        });
      };
      await Promise.all([
        grant(Promise.resolve(), async (done) => {
          await done;
          granted();
          // The other one has begun, and waits.
          await sleep(100);
        }),
        grant(isGranted, (done) => done),
      ]);
      const [{ reserved }] = (await totals(db)) as [PeriodTotals];
      await db.run((executor) => sql`delete from budget_shares`.execute(executor));
      return reserved;
    };
    expect(await grantTwice()).toBe(100);
    await db.run((executor) =>
      sql`do $$ begin execute (select replace(pg_get_functiondef('grant_budget_shares'::regproc),
        'order by p.id for no key update', 'order by p.id')); end $$`.execute(executor),
    );
    expect(await grantTwice()).toBe(200);
  },
);
