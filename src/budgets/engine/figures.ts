import type { Database } from '../../database/index.ts';
import { keyOf, type Period } from './share.ts';
import { type CountedBudget, idOf, readTotals } from './store.ts';

/** What is spent of a limit, with what approvals added. */
interface Figures {
  period: Period;
  spent: number;
  limit: number;
  usedAt: number;
}

/** The figures of a period are read each second until no call has used them for this long. */
const figuresForMs = 60_000;

/** The figures of the periods that decide whether calls go to a cheaper model. */
export class PeriodFigures {
  readonly #db: Pick<Database, 'run'>;
  /** The budget as it is now; undefined if it is gone. */
  readonly #budgetOf: (id: string) => CountedBudget | undefined;
  /** By the keys of their periods. */
  readonly #figures = new Map<string, Figures>();

  constructor(db: Pick<Database, 'run'>, budgetOf: (id: string) => CountedBudget | undefined) {
    this.#db = db;
    this.#budgetOf = budgetOf;
  }

  /** Resolves to the spent part of the limit of each period, by their keys. Those that are not known yet are read. */
  async spentParts(periods: readonly Period[]): Promise<ReadonlyMap<string, number>> {
    const unknown = periods.filter(({ key }) => !this.#figures.has(key));
    if (unknown.length > 0) await this.#read(unknown);
    const now = performance.now();
    const parts = new Map<string, number>();
    for (const { key } of periods) {
      const figures = this.#figures.get(key);
      if (!figures) continue;
      figures.usedAt = now;
      parts.set(key, figures.spent / figures.limit);
    }
    return parts;
  }

  /** Reads again what calls have used of late, and drops the rest. */
  async refresh(): Promise<void> {
    const recent = performance.now() - figuresForMs;
    for (const [key, { usedAt }] of this.#figures) if (usedAt < recent) this.#figures.delete(key);
    if (this.#figures.size > 0) await this.#read([...this.#figures.values()].map(({ period }) => period));
  }

  async #read(periods: readonly Period[]): Promise<void> {
    const found = await this.#db.run((executor) => readTotals(executor, periods.map(keyOf)));
    for (const period of periods) {
      const current = this.#budgetOf(period.budget.id);
      if (!current) continue;
      const { spent, extra } = found.get(idOf(keyOf(period))) ?? { spent: 0, extra: 0 };
      const usedAt = this.#figures.get(period.key)?.usedAt ?? performance.now();
      this.#figures.set(period.key, { period, spent, limit: current.limit + extra, usedAt });
    }
  }
}
