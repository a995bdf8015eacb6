import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openPostgres, sql } from '../../../src/database/index.ts';
import { silentLogger } from '../../../src/lib/log.ts';
import { changeBudget, charged, insertBudget, startEngine, totals } from '../../harness/budgets.ts';
import { createMigrated } from '../../harness/database.ts';
import { dropDatabase, type Postgres } from '../../harness/postgres.ts';
import { until } from '../../harness/wait.ts';

const leaseSeconds = 2;
const bound = 100;
const callers = 16;

export interface BudgetsReport {
  problems: string[];
  charges: number;
  kills: number;
  stops: number;
  /** The reads of spent and reserved. */
  polls: number;
  /** What was spent through shares that were closed before. */
  late: number;
}

const startCaller = (url: string): ChildProcess =>
  spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'budget-caller.ts'),
      url,
      String(callers),
      String(bound),
      String(leaseSeconds),
    ],
    { stdio: ['pipe', 'inherit', 'inherit'] },
  );

/** Counts what is spent late, when it is added to its period: only that may be above a limit. */
const watchLate = (db: Database) =>
  db.run(async (executor) => {
    await sql`create table test_late (period_id uuid, spent bigint)`.execute(executor);
    await sql`create function test_late() returns trigger language plpgsql as $$
      begin
        if not exists (select from budget_shares s where s.id = old.share_id) then
          insert into test_late values (old.period_id, old.spent);
        end if;
        return null;
      end $$`.execute(executor);
    await sql`create trigger test_late after delete on budget_settlements for each row execute function test_late()`.execute(
      executor,
    );
  });

/** What was spent late in the period `p`, with what is not added to it yet. */
const late = sql`((select coalesce(sum(spent), 0) from test_late l where l.period_id = p.id)
  + (select coalesce(sum(t.spent), 0) from budget_settlements t
    where t.period_id = p.id and not exists (select from budget_shares s where s.id = t.share_id)))`;

/** Returns each period that holds more than its limit and what was spent late. */
const excesses = async (db: Database): Promise<string[]> => {
  const { rows } = await db.run((executor) =>
    sql<{ held: number; allowed: number }>`select t.spent + t.reserved as held,
        (b."limit" + p.extra + ${late})::bigint as allowed
      from budget_periods p join budgets b on b.id = p.budget_id join budget_totals t on t.period_id = p.id`.execute(
      executor,
    ),
  );
  return rows.filter(({ held, allowed }) => held > allowed).map((row) => JSON.stringify(row));
};

/** The replicas that were not seen for the lease, and still hold shares. */
const countLost = async (db: Database): Promise<number> => {
  const { rows } = await db.run((executor) =>
    sql<{ n: number }>`select count(*)::integer as n from budget_replicas
      where lost or seen_at < platform_now() - make_interval(secs => ${leaseSeconds})`.execute(executor),
  );
  return rows[0]!.n;
};

/** Reads while the database is away fail, and are made again. */
const again = async <T>(read: () => Promise<T>): Promise<T> => {
  let result: { value: T } | undefined;
  await until(async () => (result = { value: await read() }), 120_000);
  return result!.value;
};

/**
 * Replicas of 16 callers each spend two budgets near their limits, which rise with what is spent, while they are killed, and stand
 * still for longer than their lease.
 */
export const runBudgets = async ({
  replicas,
  rounds,
  server,
}: {
  replicas: number;
  rounds: number;
  /** A server that is migrated, to be killed every tenth round. */
  server?: Postgres;
}): Promise<BudgetsReport> => {
  const url = server?.url ?? (await createMigrated());
  const db = await openPostgres(url, silentLogger);
  const running: ChildProcess[] = [];
  const report: BudgetsReport = { problems: [], charges: 0, kills: 0, stops: 0, polls: 0, late: 0 };
  try {
    await watchLate(db);
    let limit = 20_000;
    const ids = [
      await insertBudget(db, { limit }),
      await insertBudget(db, { limit: limit / 2, scope: { kind: 'agent', id: null } }),
    ];
    /** Leaves at most so much of each agent's limit: the callers never have more than a second's work before them. */
    const raise = async () => {
      const spent = (await totals(db)).map(({ subject_id, spent }) => (subject_id === '' ? 0 : spent));
      limit = 2 * Math.max(...spent) + 20_000;
      await changeBudget(db, ids[0]!, { limit });
      await changeBudget(db, ids[1]!, { limit: limit / 2 });
    };
    for (let k = 0; k < replicas; k++) running.push(startCaller(url));
    let isDone = false;
    const polls = (async () => {
      while (!isDone) {
        report.problems.push(...(await again(() => excesses(db))));
        report.polls++;
        await sleep(5);
      }
    })();
    await until(async () => (await charged(db)).count > 0, 90_000);
    for (let round = 0; round < rounds; round++) {
      const k = 1 + (round % (replicas - 1));
      await again(raise);
      if (server && round % 10 === 9) {
        await sleep(100);
        await server.kill('SIGKILL');
        await sleep(1_000);
        await server.restart();
      }
      await sleep(300 + Math.random() * 300);
      if (round % 4 === 3) {
        report.stops++;
        await again(raise);
        // In the middle of calls.
        const before = await again(() => charged(db));
        await again(
          async () => (await charged(db)).count > before.count + 50 || Promise.reject(new Error('no calls')),
        );
        running[0]!.kill('SIGSTOP');
        await again(raise);
        await sleep(leaseSeconds * 1_000 + 500);
        // The others have closed its shares.
        await again(async () => (await countLost(db)) === 0 || Promise.reject(new Error('not closed')));
        running[0]!.kill('SIGCONT');
      } else {
        report.kills++;
        running[k]!.kill('SIGKILL');
        running[k] = startCaller(url);
      }
    }
    // The rest is spent: every agent has less than a bound left.
    const isSpent = async () =>
      (await totals(db)).every(
        ({ subject_id, limit: most, spent }) => subject_id === '' || most - spent < bound,
      );
    await until(isSpent, 180_000).catch(async () =>
      report.problems.push(`more than a bound is left: ${JSON.stringify(await totals(db))}`),
    );
    for (const child of running) child.kill('SIGKILL');
    isDone = true;
    await polls;
    const last = await startEngine(db, { leaseSeconds });
    const isFree = async () => (await totals(db)).every(({ reserved }) => reserved === 0);
    await until(isFree, (leaseSeconds + 2) * 1_000).catch(async () =>
      report.problems.push(`reserved at the end: ${JSON.stringify(await totals(db))}`),
    );
    await last.stop();
    const all = await totals(db);
    const { count, amount } = await charged(db);
    const spent = (isOf: (subject: string) => boolean) =>
      all.filter(({ subject_id }) => isOf(subject_id)).reduce((sum, one) => sum + one.spent, 0);
    if (spent((subject) => subject === '') !== amount || spent((subject) => subject !== '') !== amount)
      report.problems.push(`${amount} charged: ${JSON.stringify(all)}`);
    report.charges = count;
    const { rows } = await db.run((executor) =>
      sql<{ late: number }>`select coalesce(sum(${late}), 0)::bigint as late from budget_periods p`.execute(
        executor,
      ),
    );
    report.late = rows[0]!.late;
  } finally {
    for (const child of running) child.kill('SIGKILL');
    await db.close();
    if (!server) await dropDatabase(url);
  }
  return report;
};
