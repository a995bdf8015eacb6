import type { PublicBudget } from '../../api/types.gen.ts';
import { nanoOf, plainUsd } from '../../resource/index.ts';

type Unit = PublicBudget['unit'];

/** The fields of a budget that can be changed, as a form has them. */
export interface BudgetValues {
  name: string;
  limit: string;
  action: PublicBudget['action'];
  llm_id: string | null;
  from_percent: number | null;
  notify_percent: string;
  enabled: boolean;
}

/** A limit as people type it: USD, or tokens. */
const limitText = (unit: Unit, limit: number): string =>
  unit === 'nano_usd' ? plainUsd(limit) : String(limit);

/** Returns the amount in the unit; the text as it is if it is no amount, which the API refuses. */
const readLimit = (unit: Unit, text: string): number => {
  const tokens = Number(text.replaceAll(/[,\s]/g, ''));
  return (unit === 'nano_usd' ? nanoOf(text) : Number.isNaN(tokens) ? null : tokens) ?? (text as never);
};

const readPercents = (text: string): number[] =>
  text
    .split(/[\s,;%]+/)
    .filter((part) => part !== '')
    .map((part) => (Number.isNaN(Number(part)) ? (part as never) : Number(part)));

export const toValues = (budget: PublicBudget): BudgetValues => ({
  name: budget.name,
  limit: limitText(budget.unit, budget.limit),
  action: budget.action,
  llm_id: budget.llm_id,
  from_percent: budget.from_percent,
  notify_percent: budget.notify_percent.join(', '),
  enabled: budget.enabled,
});

/** The fields of a body that both forms have. */
export const toBody = (unit: Unit, values: BudgetValues) => ({
  name: values.name,
  limit: readLimit(unit, values.limit),
  action: values.action,
  llm_id: values.action === 'cheaper' ? values.llm_id : null,
  ...(values.from_percent === null ? {} : { from_percent: values.from_percent }),
  notify_percent: readPercents(values.notify_percent),
  enabled: values.enabled,
});

/** The field of a fault. */
export const fieldOf = (path: string): string => {
  if (path === 'scope.id') return 'subject';
  return path.replace(/^scope\b.*/, 'scope').replace(/\[.*/, '');
};
