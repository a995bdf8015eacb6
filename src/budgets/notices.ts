import { audit } from '../audit/index.ts';
import { type Database, type Executor, sql, type Tx } from '../database/index.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { counter, gauge, type Metric } from '../lib/metrics.ts';
import { systemActor } from '../lib/principal.ts';
import type { BudgetExceeded } from './engine/refusals.ts';
import type { CountedBudget } from './engine/store.ts';

/** What people are notified of, once a period: parts of the limit that are reached, and that nothing is left. */

interface NoticeRow {
  id: string;
  budget_id: string;
  name: string;
  scope: CountedBudget['scope'];
  subject_id: string;
  unit: CountedBudget['unit'];
  /** With what approvals added. */
  most: number;
  spent: number;
  starts_at: Date;
  ends_at: Date | null;
  notify_percent: number[];
  notified_percent: number;
  exhausted_at_limit: number | null;
  overrun: number;
}

const readPeriods = async (executor: Executor, ids: readonly string[]): Promise<NoticeRow[]> => {
  const { rows } = await sql<NoticeRow>`
    select p.id, p.budget_id, b.name, b.scope, p.subject_id, b.unit, b."limit" + p.extra as most,
      (select t.spent from budget_totals t where t.period_id = p.id) as spent, p.starts_at, p.ends_at, b.notify_percent,
      p.notified_percent, p.exhausted_at_limit, p.overrun
    from budget_periods p join budgets b on b.id = p.budget_id where p.id = any(${ids}::uuid[])`.execute(
    executor,
  );
  return rows;
};

/** The periods that have not ended, or just have. */
const listOpenIds = async (executor: Executor): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`select id from budget_periods
    where ends_at is null or ends_at > platform_now() - interval '1 minute' limit 10000`.execute(executor);
  return rows.map(({ id }) => id);
};

/** The spent part of the limit of each budget. */
const readRatios = async (executor: Executor): Promise<{ name: string; ratio: number }[]> => {
  const { rows } = await sql<{ name: string; ratio: number }>`
    select b.name, coalesce(max(t.spent::float8 / (b."limit" + p.extra)), 0) as ratio
    from budgets b
    left join budget_periods p on p.budget_id = b.id and p.starts_at <= platform_now()
      and (p.ends_at is null or p.ends_at > platform_now())
    left join budget_totals t on t.period_id = p.id group by b.id`.execute(executor);
  return rows;
};

/** The parts of the limit that are reached and were not notified. */
const reached = ({ notify_percent, notified_percent, spent, most }: NoticeRow): number[] =>
  [...new Set(notify_percent)]
    .filter((percent) => percent > notified_percent && spent * 100 >= percent * most)
    .sort((a, b) => a - b);

const isNews = (row: NoticeRow): boolean =>
  reached(row).length > 0 ||
  (row.spent >= row.most && row.exhausted_at_limit !== row.most) ||
  row.spent - row.most > row.overrun;

/**
 * Records the news of a period, and that a call found no room for the limit `refusedAt`, unless the period has another one by
 * now. Returns how much more is overrun.
 */
const record = async (
  tx: Tx,
  id: string,
  refusedAt: number | null,
): Promise<NoticeRow & { added: number }> => {
  // No one else records it in the meantime: the row is read once it is locked.
  await sql`select from budget_periods where id = ${id} for no key update`.execute(tx);
  const [row] = await readPeriods(tx, [id]);
  if (!row) return { added: 0 } as NoticeRow & { added: number };
  const { budget_id, name, subject_id, unit, most: limit, spent, starts_at, ends_at } = row;
  const shown = {
    name,
    ...(subject_id === '' ? {} : { subject: { kind: row.scope.kind, id: subject_id } }),
    unit,
    limit,
    spent,
    period: { starts_at: starts_at.toISOString(), ends_at: ends_at?.toISOString() ?? null },
  };
  const percents = reached(row);
  for (const percent of percents)
    await audit(tx, systemActor, 'budget.threshold', budget_id, { ...shown, percent });
  const isExhausted = refusedAt === limit || spent >= limit;
  if (isExhausted && row.exhausted_at_limit === null)
    await audit(tx, systemActor, 'budget.exhausted', budget_id, shown);
  const overrun = Math.max(row.overrun, spent - limit);
  await sql`update budget_periods set notified_percent = ${percents.at(-1) ?? row.notified_percent},
      exhausted_at_limit = ${isExhausted ? limit : row.exhausted_at_limit}, overrun = ${overrun}
    where id = ${id}`.execute(tx);
  return { ...row, added: overrun - row.overrun };
};

/** Notifies of what budgets reach, and counts what they do. */
export class Notices {
  readonly metrics: readonly Metric[];
  readonly #db: Database;
  readonly #log: Logger;
  readonly #actions = counter(
    'agent_platform_budget_actions_total',
    'Calls of models that a budget refused, made wait, asked an administrator about, or sent to a cheaper model.',
    ['budget', 'action'],
  );
  readonly #overrun = counter(
    'agent_platform_budget_overrun_nano_usd_total',
    'Nano-USD that were spent above the limits of budgets: by calls above their bound, external workers, late charges and lowered limits.',
  );
  /** The limits for which periods are known to be exhausted. */
  readonly #exhausted = new Map<string, number>();

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
    const used = gauge(
      'agent_platform_budget_used_ratio',
      'Spent part of the limit of the current period; the largest of all subjects, if each has its own.',
      ['budget'],
      async (metric) => {
        metric.reset();
        // Without the database there is no figure, and the others are still of use.
        const ratios = await db.run(readRatios).catch(() => []);
        for (const { name, ratio } of ratios) metric.set({ budget: name }, ratio);
      },
    );
    this.metrics = [used, this.#actions, this.#overrun];
  }

  /** Counts a call that went to a cheaper model. */
  cheaper(budget: CountedBudget): void {
    this.#actions.inc({ budget: budget.name, action: 'cheaper' });
  }

  /** Counts a call that found no room. Resolves when the state of the budget says so. */
  async exceeded({ budget, action, periodId, spent, limit, bound }: BudgetExceeded): Promise<void> {
    this.#actions.inc({ budget: budget.name, action });
    // Others only hold what is left of it.
    if (limit - spent >= (bound ?? 0) || this.#exhausted.get(periodId) === limit) return;
    try {
      await this.#record(periodId, limit);
      if (this.#exhausted.size >= 10_000) this.#exhausted.clear();
      this.#exhausted.set(periodId, limit);
    } catch (error) {
      this.#log.warn({ error: messageOf(error), budget_id: budget.id }, 'cannot record an exhausted budget');
    }
  }

  /** Looks at periods in which something was spent; null: at all that have not ended. */
  async check(periodIds: readonly string[] | null): Promise<void> {
    const rows = await this.#db.run(async (executor) =>
      readPeriods(executor, periodIds ?? (await listOpenIds(executor))),
    );
    for (const row of rows) if (isNews(row)) await this.#record(row.id, null);
  }

  async #record(id: string, refusedAt: number | null): Promise<void> {
    const { unit, added } = await this.#db.tx((tx) => record(tx, id, refusedAt));
    if (unit === 'nano_usd' && added > 0) this.#overrun.inc(added);
  }
}
