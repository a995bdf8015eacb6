import { build, nearest, print, resolve, SqlRefusal, type Table } from '@agent-platform/sql';
import type { Dialect } from '../../data-connections/index.ts';
import type { Issue } from '../issues.ts';
import type { Request } from '../language.ts';
import type { Dataset, DialectExpressions, Field, Metric, SemanticModel } from '../ossie.ts';
import { compilerOf } from './compile.ts';
import { dialectsOf, sourceOf, textFor } from './dialects.ts';
import { FaultList } from './fault-list.ts';
import { didYouMean } from './faults.ts';
import { Model } from './model.ts';
import { anyColumn, repaired } from './repair.ts';
import { readShape, unknownKeys } from './shape.ts';

/** The static rules of a model: what can be said of it without its database. */

interface Query {
  name: string;
  sql?: string | undefined;
  query?: unknown;
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const sameColumns = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.some((other) => same(name, other)));

/** Faults that are told of a relationship that is wrong, and not of what follows from it. */
const ofPaths = ['unreachable', 'ambiguous_path'];

/**
 * Finds all faults of a document at once. A part with a fault is replaced by one that is harmless, in a copy: what uses
 * the part is checked against that, so that no fault is reported twice and none hides another.
 */
class Check {
  readonly #dialect: Dialect;
  readonly #document: SemanticModel;
  readonly #faults: FaultList;

  constructor(document: SemanticModel, dialect: Dialect, known: readonly Issue[]) {
    this.#document = document;
    this.#dialect = dialect;
    this.#faults = new FaultList(known);
  }

  #hasDialect(expression: DialectExpressions, path: string): boolean {
    if (textFor(expression, this.#dialect) !== null) return true;
    const wanted = dialectsOf(this.#dialect).join(', ');
    this.#faults.add(path, 'dialect_missing', `has no expression in ${wanted} (dialect_missing)`);
    return false;
  }

  run(queries: readonly Query[]): Issue[] {
    const { datasets, relationships = [], metrics = [] } = this.#document;
    const root = 'semantic_model';
    const named = {
      datasets: this.#faults.unique(datasets, (i) => `${root}.datasets[${i}].name`),
      relationships: this.#faults.unique(relationships, (i) => `${root}.relationships[${i}].name`),
      metrics: this.#faults.unique(metrics, (i) => `${root}.metrics[${i}].name`),
    };
    const checked = named.datasets.map((dataset, i) => this.#dataset(dataset, `${root}.datasets[${i}]`));
    const hasPaths = this.#relationships(named);
    const joined = named.relationships.filter(({ from, to }) =>
      [from, to].every((name) => checked.some((dataset) => same(dataset.name, name))),
    );
    const document = { ...this.#document, ...named, datasets: checked, relationships: joined };
    // A missing join may follow from a relationship that is wrong.
    const hidden = hasPaths ? [] : ofPaths;
    const wrong = this.#metrics(document, hidden);
    this.#faults.unique(queries, (i) => `verified_queries[${i}].name`);
    this.#queries(document, queries, wrong, hidden);
    return this.#faults.all;
  }

  /** Reports the faults of a dataset; returns it without them. */
  #dataset(dataset: Dataset, path: string): Dataset {
    const source = sourceOf(dataset.source, this.#dialect);
    if (typeof source === 'string') this.#faults.add(`${path}.source`, 'invalid_source', source);
    const fields = this.#faults.unique(dataset.fields ?? [], (k) => `${path}.fields[${k}].name`);
    const withSource = { ...dataset, source: typeof source === 'string' ? 'a_table' : dataset.source };
    const complete = fields.filter((field, k) =>
      this.#hasDialect(field.expression, `${path}.fields[${k}].expression`),
    );
    const table = new Model(
      { ...this.#document, datasets: [{ ...withSource, fields: complete }] },
      this.#dialect,
    ).tables()[0]!;
    const isFine = this.#areFine(table, complete);
    const repairedFields = fields.map((field, k) => {
      const harmless = { ...field, expression: anyColumn };
      if (!complete.includes(field)) return harmless;
      if (isFine || this.#faults.isFull) return isFine ? field : harmless;
      const at = `${path}.fields[${k}].expression`;
      return this.#faults.try(
        () => at,
        () => this.#print(table, complete, [field]),
      )
        ? field
        : harmless;
    });
    return { ...withSource, fields: repairedFields };
  }

  /** Prints all fields at once: one by one, each takes as long as this for all. */
  #areFine(table: Table, fields: readonly Field[]): boolean {
    try {
      this.#print(table, fields, fields);
      return true;
    } catch (error) {
      if (error instanceof SqlRefusal) return false;
      throw error;
    }
  }

  /** Prints some of the fields. The others that are nothing but a column tell the type of that column. */
  #print(table: Table, complete: readonly Field[], printed: readonly Field[]): void {
    if (printed.length === 0) return;
    const isName = (field: Field) => /^\w+$/.test(textFor(field.expression, this.#dialect) ?? '');
    const used = new Set(
      complete.filter((field) => printed.includes(field) || isName(field)).map(({ name }) => name),
    );
    const columns = table.columns.filter(({ name }) => used.has(name));
    const query = build.select({
      outputs: printed.map(({ name }) => build.output(build.column(null, name), name)),
      from: [{ kind: 'table', name: table.name, alias: null }],
    });
    print(resolve(query, [{ ...table, columns }]), this.#dialect.engine);
  }

  #relationships({
    datasets,
    relationships = [],
  }: Pick<SemanticModel, 'datasets' | 'relationships'>): boolean {
    let isComplete = true;
    for (const [i, { from, to, from_columns, to_columns }] of relationships.entries()) {
      const path = `semantic_model.relationships[${i}]`;
      const find = (name: string, key: string): Dataset | undefined => {
        const found = datasets.find((dataset) => same(dataset.name, name));
        if (found) return found;
        isComplete = false;
        const suggestions = nearest(
          name,
          datasets.map((dataset) => dataset.name),
        );
        const message = `there is no dataset \`${name}\`${didYouMean(suggestions)}`;
        this.#faults.add(`${path}.${key}`, 'unknown_dataset', message, suggestions);
        return undefined;
      };
      find(from, 'from');
      const target = find(to, 'to');
      if (from_columns.length !== to_columns.length)
        this.#faults.add(`${path}.to_columns`, 'static_rule', 'must have as many columns as from_columns');
      const keys = target ? [target.primary_key ?? [], ...(target.unique_keys ?? [])] : [];
      if (target && !keys.some((key) => sameColumns(key, to_columns))) {
        const message = `must be the primary key or a unique key of \`${target.name}\``;
        this.#faults.add(`${path}.to_columns`, 'no_key', message);
      }
    }
    return isComplete;
  }

  /** Returns the metrics that have a fault. */
  #metrics(document: SemanticModel, hidden: readonly string[]): Set<Metric> {
    const compile = compilerOf(new Model(document, this.#dialect));
    const wrong = new Set<Metric>();
    for (const [i, metric] of (document.metrics ?? []).entries()) {
      if (this.#faults.isFull) return wrong;
      const path = `semantic_model.metrics[${i}].expression`;
      const isFine =
        this.#hasDialect(metric.expression, path) &&
        this.#faults.try(
          () => path,
          () => compile({ query: { metrics: [metric.name] } }, { limit: 1 }),
          hidden,
        );
      if (!isFine) wrong.add(metric);
    }
    return wrong;
  }

  #queries(
    document: SemanticModel,
    queries: readonly Query[],
    wrong: ReadonlySet<Metric>,
    hidden: readonly string[],
  ): void {
    const one = document.datasets.find(({ fields = [] }) => fields.length > 0);
    const counted = one ? `count("${one.name}"."${one.fields![0]!.name}")` : 'count(a_column)';
    const metrics = document.metrics?.map((metric) =>
      wrong.has(metric)
        ? { ...metric, expression: { dialects: [{ dialect: 'ANSI_SQL', expression: counted }] } }
        : metric,
    );
    const compile = compilerOf(new Model({ ...document, ...(metrics ? { metrics } : {}) }, this.#dialect));
    const names = [...wrong].map(({ name }) => name.toLowerCase());
    for (const [i, { sql, query }] of queries.entries()) {
      if (this.#faults.isFull) return;
      const request: Request = sql === undefined ? { query: query as Record<string, unknown> } : { sql };
      const text = JSON.stringify(query ?? null).toLowerCase();
      const usesWrong = names.some((name) => text.includes(JSON.stringify(name)));
      this.#faults.try(
        (path) => `verified_queries[${i}]${path === '' ? '' : `.${path}`}`,
        () => compile(request, { limit: 1 }),
        usesWrong ? ofPaths : hidden,
      );
    }
  }
}

/** The faults that can be found without knowing the engine of the data connection. */
export const faultsOfForm = (semantic_model: unknown): Issue[] => {
  const shape = readShape(semantic_model);
  return 'faults' in shape ? shape.faults : [];
};

export interface CheckedModel {
  /** The document as it was given. */
  model: unknown;
  /** At most 100. */
  faults: Issue[];
  warnings: Issue[];
}

/**
 * All faults of a model and its verified queries that need no database: the path of each, and what to write instead.
 * Nothing else of this folder may be called with a model that has faults.
 */
export const checkModel = (
  { semantic_model, verified_queries }: { semantic_model: unknown; verified_queries: readonly Query[] },
  dialect: Dialect,
): CheckedModel => {
  const shape = readShape(semantic_model);
  const ofShape = 'faults' in shape ? shape.faults : [];
  const document = 'faults' in shape ? repaired(semantic_model) : (shape.model as SemanticModel);
  const faults = new Check(document, dialect, ofShape).run(verified_queries);
  return {
    model: semantic_model,
    faults,
    warnings: 'faults' in shape ? [] : unknownKeys(shape.model),
  };
};
