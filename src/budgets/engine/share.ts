import type { Applied } from './copy.ts';
import { periodAt, type Span } from './periods.ts';
import type { CountedBudget, PeriodKey } from './store.ts';

/** A period of a subject, which all replicas identify by its budget, subject and start. */
export interface Period extends Applied {
  key: string;
  span: Span;
}

const spans = new WeakMap<CountedBudget, Span>();

/** Returns the current period of a budget at the instant `at`. */
const spanOf = (budget: CountedBudget, at: number): Span => {
  const known = spans.get(budget);
  if (known && known.start <= at && (known.end === null || at < known.end)) return known;
  const span = periodAt(budget.period, budget.timezone, at, budget.effective_from.getTime());
  spans.set(budget, span);
  return span;
};

/** Returns the periods at the instant `at` of the budgets that count a call; none of a budget that is not in effect yet. */
export const periodsAt = (applied: readonly Applied[], at: number): Period[] => {
  const found: Period[] = [];
  for (const { budget, subjectId } of applied) {
    if (at < budget.effective_from.getTime()) continue;
    const span = spanOf(budget, at);
    found.push({ budget, subjectId, span, key: `${budget.id} ${span.start} ${subjectId}` });
  }
  return found;
};

/** Returns the same as the database identifies it. */
export const keyOf = ({ budget, subjectId, span }: Period): PeriodKey => ({
  budget_id: budget.id,
  subject_id: subjectId,
  starts_at: new Date(span.start),
  ends_at: span.end === null ? null : new Date(span.end),
});

/** The room that this replica holds in a period. Bounds in flight and what is spent are at most what was granted. */
export class Share {
  readonly id: string;
  readonly period: Period;
  readonly periodId: string;
  granted: number;
  spent = 0;
  inFlight = 0;
  /** The calls that reserve from it. */
  calls = 0;
  /** The last time a call reserved from it, by performance.now(). */
  usedAt: number;
  /** More is asked for when less than this is left. */
  refillBelow = 0;
  /** No more is asked for before this time, because there was none. */
  refillAfter = 0;
  /** The bound of the last call. */
  bound = 0;
  /** The database may hold more than `granted`: it was not told, or what it was told is not known. */
  returnAgain = false;

  constructor(id: string, period: Period, periodId: string, granted: number) {
    this.id = id;
    this.period = period;
    this.periodId = periodId;
    this.granted = granted;
    this.usedAt = performance.now();
  }

  get left(): number {
    return this.granted - this.spent - this.inFlight;
  }

  /** Takes what was granted; `granted` is the sum of all grants. */
  grow(granted: number): void {
    this.granted = granted;
    this.refillBelow = Math.max(0, this.left) / 2;
  }

  take(bound: number): void {
    this.inFlight += bound;
    this.calls++;
    this.bound = bound;
    this.usedAt = performance.now();
  }

  /** Ends a call that had reserved `bound` and spent `spent`. */
  end(bound: number, spent: number): void {
    this.inFlight -= bound;
    this.calls--;
    this.spent += spent;
  }
}
