import type { Executor } from '../database/index.ts';
import type { Attention } from '../lib/attention.ts';
import { isolate } from '../lib/prose.ts';
import { LocalClock } from '../lib/times.ts';
import { stateOf } from './current.ts';
import { shownAmount } from './engine/refusals.ts';
import { type AttentionRow, listOpenPeriods } from './store.ts';

/** Budgets that need attention: those with little left, and those with nothing. */

const consequence: Record<AttentionRow['action'], string> = {
  refuse: 'Its calls are refused.',
  wait: 'Work Items wait for the next period, and other calls are refused.',
  ask: 'Work Items and runs wait for an administrator, and other calls are refused.',
  cheaper: 'Its calls are refused, those of the cheaper model too.',
};

const momentOf = (at: Date): string => new LocalClock('UTC', at.getTime()).moment(at.getTime());

const lineOf = (kind: 'budget_exhausted' | 'budget_warning', row: AttentionRow): Attention => {
  const { budget_id: id, name, unit, limit, extra, spent, ends_at, action } = row;
  const end = ends_at ? ` The period ends on ${momentOf(ends_at)} (UTC).` : '';
  const isExhausted = kind === 'budget_exhausted';
  return {
    kind,
    severity: isExhausted ? 'error' : 'warning',
    count: 1,
    since: null,
    subject: { type: 'budget', id, name },
    title: isExhausted
      ? `The budget ${isolate(name)} is used up`
      : `The budget ${isolate(name)} is nearly used up`,
    detail: `${shownAmount(unit, spent)} of ${shownAmount(unit, limit + extra)} are spent.${isExhausted ? ` ${consequence[action]}` : ''}${end}`,
    filter: {},
  };
};

/** One line for all budgets of a kind, which counts them. */
const linesOf = (kind: 'budget_exhausted' | 'budget_warning', rows: readonly AttentionRow[]): Attention[] => {
  // A budget of each subject counts once, by its fullest period.
  const budgets = [...new Map(rows.map((row) => [row.budget_id, row])).values()];
  const [first] = budgets;
  if (!first) return [];
  const line = lineOf(kind, first);
  if (budgets.length === 1) return [line];
  const title = `${budgets.length} budgets are ${kind === 'budget_exhausted' ? '' : 'nearly '}used up`;
  return [{ ...line, subject: null, count: budgets.length, title }];
};

/** Returns the lines of the Overview on budgets; `withPeople`: also on those of persons. */
export const budgetAttention = async (executor: Executor, withPeople: boolean): Promise<Attention[]> => {
  const rows = await listOpenPeriods(executor, withPeople);
  const states = Map.groupBy(rows, (row) => stateOf(row, row));
  const exhausted = states.get('exhausted') ?? [];
  const named = new Set(exhausted.map(({ budget_id }) => budget_id));
  const warned = (states.get('warning') ?? []).filter(({ budget_id }) => !named.has(budget_id));
  return [...linesOf('budget_exhausted', exhausted), ...linesOf('budget_warning', warned)];
};
