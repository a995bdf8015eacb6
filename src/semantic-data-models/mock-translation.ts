import { type Expression, parseExpression } from '@agent-platform/sql';
import type { Request } from './language.ts';
import { type DialectExpressions, type Field, type Metric, type SemanticModel, synonymsOf } from './ossie.ts';

/**
 * The mock model translates questions by fixed rules, so that the way from a question to an answer can be tried
 * without a provider.
 *
 * - `SQL: …` is taken as SQL.
 * - Metrics are those whose name or synonym occurs in the question as whole words, `_` read as a blank.
 * - Each part after "by" or "per" names a field of a dataset that the metric can reach, by name, label or synonym; the
 *   nearest dataset wins. `second` … `year` there is the granularity of the only time field of the metric's dataset.
 */

const granularities = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

/** Words in lower case between single blanks, with one at each end. */
const words = (text: string): string =>
  ` ${(
    text
      .normalize('NFKC')
      .toLowerCase()
      .replaceAll('_', ' ')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).join(' ')} `;

const phrasesOf = (one: { name: string; label?: string; ai_context?: Field['ai_context'] }): string[] =>
  [one.name, ...(one.label === undefined ? [] : [one.label]), ...synonymsOf(one)]
    .map(words)
    .filter((phrase) => phrase.trim() !== '');

/** The longest of the phrases that occur in `text`. */
const longestIn = (text: string, phrases: readonly string[]): string | undefined =>
  phrases.filter((phrase) => text.includes(phrase)).sort((a, b) => b.length - a.length)[0];

/** The names of datasets in an expression; empty if it cannot be parsed. */
const datasetsIn = ({ dialects }: DialectExpressions): string[] => {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(walk);
    else if (value !== null && typeof value === 'object') {
      const { kind, table } = value as Partial<Expression> & { table?: unknown };
      if (kind === 'column' && typeof table === 'string') found.add(table.toLowerCase());
      Object.values(value).forEach(walk);
    }
  };
  for (const { expression } of dialects) {
    try {
      walk(parseExpression(expression));
      return [...found];
    } catch {
      // The text is of another dialect.
    }
  }
  return [];
};

/** Returns the distance of each dataset from `base` along relationships, many to one. */
const distancesFrom = (model: SemanticModel, base: string): Map<string, number> => {
  const distances = new Map([[base, 0]]);
  const queue = [base];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const { from, to } of model.relationships ?? []) {
      const next = to.toLowerCase();
      if (from.toLowerCase() !== at || distances.has(next)) continue;
      distances.set(next, distances.get(at)! + 1);
      queue.push(next);
    }
  }
  return distances;
};

/** The distances from the dataset of a metric: the one of its datasets that reaches the others. */
const reachOf = (model: SemanticModel, metric: Metric): Map<string, number> => {
  const named = datasetsIn(metric.expression);
  const reaches = named.map((base) => distancesFrom(model, base));
  return reaches.find((reach) => named.every((name) => reach.has(name))) ?? reaches[0] ?? new Map();
};

const findMetrics = (model: SemanticModel, question: string): Metric[] => {
  const found = (model.metrics ?? []).flatMap((metric) => {
    const phrase = longestIn(question, phrasesOf(metric));
    return phrase === undefined ? [] : [{ metric, phrase }];
  });
  // `order count` is not also `count`.
  return found
    .filter(({ phrase }) => !found.some((other) => other.phrase !== phrase && other.phrase.includes(phrase)))
    .map(({ metric }) => metric);
};

const isTime = ({ dimension, datatype }: Field): boolean =>
  dimension?.is_time ?? (datatype === 'Date' || datatype === 'DateTime' || datatype === 'DateTimeTz');

/** The field that a part of the question names, with its dataset. */
const findField = (model: SemanticModel, reach: ReadonlyMap<string, number>, part: string) => {
  const candidates = model.datasets.flatMap((dataset) => {
    const distance = reach.get(dataset.name.toLowerCase());
    if (distance === undefined) return [];
    return (dataset.fields ?? []).flatMap((field) => {
      const phrase = longestIn(part, phrasesOf(field));
      return phrase === undefined ? [] : [{ name: `${dataset.name}.${field.name}`, phrase, distance }];
    });
  });
  candidates.sort((a, b) => b.phrase.length - a.phrase.length || a.distance - b.distance);
  return candidates[0]?.name;
};

const dimensionOf = (model: SemanticModel, reach: ReadonlyMap<string, number>, part: string): unknown => {
  const granularity = granularities.find((word) => part.startsWith(` ${word} `));
  const base = model.datasets.find(({ name }) => reach.get(name.toLowerCase()) === 0);
  const times = (base?.fields ?? []).filter(isTime);
  if (granularity !== undefined && times.length === 1) {
    return { field: `${base!.name}.${times[0]!.name}`, granularity };
  }
  return findField(model, reach, part);
};

/** The request that a question stands for; null if it names nothing of the model. */
export const translateByRules = (model: SemanticModel, question: string): Request | null => {
  const sql = /^\s*SQL:\s*(.+)$/s.exec(question)?.[1];
  if (sql !== undefined) return { sql };
  const [asked = '', ...parts] = words(question).split(/ (?:by|per|and) /);
  const whole = ` ${asked.trim()} ${parts.join(' ')} `;
  const metrics = findMetrics(model, whole);
  const [first] = metrics;
  if (!first) return null;
  const reach = reachOf(model, first);
  // Words before the first "by" or "per" name no dimension.
  const after = /(?<= )(?:by|per) (.*)$/.exec(words(question))?.[1] ?? '';
  const dimensions = after
    .split(/ (?:by|per|and) | (?=by |per )/)
    .map((part) => dimensionOf(model, reach, words(part)))
    .filter((dimension) => dimension !== undefined);
  return { query: { metrics: metrics.map(({ name }) => name), dimensions } };
};
