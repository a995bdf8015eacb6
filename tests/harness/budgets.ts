import { setTimeout as sleep } from 'node:timers/promises';
import type { CallSubjects } from '../../src/budgets/engine/copy.ts';
import { BudgetEngine, budgetsChannel } from '../../src/budgets/engine/engine.ts';
import type { Reservation } from '../../src/budgets/engine/reservation.ts';
import { insertCharges, type NewCharge } from '../../src/charges/index.ts';
import { type Database, json, notify, sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { noTokens } from '../../src/lib/tokens.ts';

/** Budgets without the API: rows, engines and charges, for tests of the engine. */

export interface BudgetRow {
  scope?: { kind: string; id: string | null };
  unit?: 'nano_usd' | 'tokens';
  limit: number;
  period?: string;
  timezone?: string;
  action?: string;
  enabled?: boolean;
  effectiveFrom?: Date;
}

export const insertBudget = async (db: Database, row: BudgetRow): Promise<string> => {
  const id = newId();
  await db.tx(async (tx) => {
    await sql`insert into budgets (id, name, scope, unit, "limit", period, timezone, action, from_percent, notify_percent,
        enabled, effective_from)
      values (${id}, ${id}, ${json(row.scope ?? { kind: 'workspace', id: null })}, ${row.unit ?? 'nano_usd'}, ${row.limit},
        ${row.period ?? 'month'}, ${row.timezone ?? 'UTC'}, ${row.action ?? 'refuse'}, 80, '[50, 80]', ${row.enabled ?? true},
        ${row.effectiveFrom ?? new Date(0)})`.execute(tx);
    await notify(tx, budgetsChannel);
  });
  return id;
};

export const changeBudget = (db: Database, id: string, change: { limit?: number; enabled?: boolean }) =>
  db.tx(async (tx) => {
    await sql`update budgets set "limit" = coalesce(${change.limit ?? null}, "limit"),
      enabled = coalesce(${change.enabled ?? null}, enabled), revision = revision + 1 where id = ${id}`.execute(
      tx,
    );
    await notify(tx, budgetsChannel);
  });

export interface EngineOptions {
  leaseSeconds?: number;
  allowsUnknownPrice?: boolean;
  patienceMs?: number;
}

export const startEngine = async (db: Database, options: EngineOptions = {}): Promise<BudgetEngine> => {
  const engine = new BudgetEngine({
    db,
    log: silentLogger,
    leaseSeconds: () => options.leaseSeconds ?? 30,
    allowsUnknownPrice: () => options.allowsUnknownPrice ?? false,
    patienceMs: options.patienceMs,
  });
  engine.listen();
  await engine.refresh();
  engine.start();
  return engine;
};

export const subjects = (given: Partial<CallSubjects> = {}): CallSubjects => ({
  agentId: null,
  scheduleId: null,
  triggerId: null,
  personId: null,
  apiKeyId: null,
  llmId: null,
  ...given,
});

const noSubjects = {
  purpose: 'run',
  agent_id: null,
  agent_version: null,
  work_item_id: null,
  run_id: null,
  experiment_id: null,
  schedule_id: null,
  trigger_id: null,
  principal_kind: 'system',
  principal_id: 'test',
  llm_id: null,
  model: null,
  price_id: null,
  assumed_nano_usd: null,
  trace_id: null,
  span_id: null,
  external_id: null,
} as const;

export const reserve = (
  engine: BudgetEngine,
  bound: number,
  given: Partial<CallSubjects> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Reservation> =>
  engine.reserve({
    subjects: subjects(given),
    bound: () => ({ nanoUsd: bound, tokens: bound, priceUnknown: false, model: 'm' }),
    signal,
  });

/** Stores a charge and what it adds to its budgets, as the platform does: again until it is known to be written. */
export const charge = async (db: Database, reservation: Reservation, amount: number): Promise<void> => {
  const settlements = reservation.settlement({ amountNanoUsd: amount, assumedNanoUsd: null, tokens: amount });
  const written: NewCharge = {
    charge: {
      ...noTokens,
      ...noSubjects,
      id: newId(),
      started_at: new Date(reservation.startedAt),
      duration_ms: 0,
      status: 'priced',
      unreconciled: false,
      late: false,
      requested_model: 'm',
      amount_nano_usd: amount,
    },
    settlements,
    settled: () => reservation.settled(),
  };
  for (let pause = 1; ; pause = Math.min(pause * 2, 100)) {
    try {
      await db.run((executor) => insertCharges(executor, [written]));
      break;
    } catch {
      await sleep(pause);
    }
  }
  written.settled();
};

export interface PeriodTotals {
  budget_id: string;
  subject_id: string;
  limit: number;
  extra: number;
  spent: number;
  assumed: number;
  reserved: number;
}

/** What the periods hold, in one statement. */
export const totals = async (db: Database): Promise<PeriodTotals[]> => {
  const { rows } = await db.run((executor) =>
    sql<PeriodTotals>`select p.budget_id, p.subject_id, b."limit", p.extra, t.spent, t.assumed, t.reserved
      from budget_periods p join budgets b on b.id = p.budget_id join budget_totals t on t.period_id = p.id
      order by p.id`.execute(executor),
  );
  return rows;
};

export const charged = async (db: Database): Promise<{ count: number; amount: number }> => {
  const { rows } = await db.run((executor) =>
    sql<{ count: number; amount: number }>`
      select count(*)::integer as count, coalesce(sum(amount_nano_usd), 0)::bigint as amount from charges`.execute(
      executor,
    ),
  );
  return rows[0]!;
};
