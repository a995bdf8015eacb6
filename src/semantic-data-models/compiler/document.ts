import type { Dialect } from '../../data-connections/index.ts';
import { ApiError, type Fault } from '../../lib/errors.ts';
import { mostFaults } from '../../lib/text.ts';
import {
  build,
  type Datatype,
  type Expression,
  expressionsIn,
  nearest,
  print,
  resolve,
  type Source,
  SqlRefusal,
} from '../../sql/index.ts';
import type { Issue } from '../issues.ts';
import type { Request } from '../language.ts';
import type { Dataset, DialectExpressions, SemanticModel } from '../ossie.ts';
import { compilerOf } from './compile.ts';
import { dialectsOf, expressionFor, sourceOf, textFor } from './dialects.ts';
import { didYouMean } from './faults.ts';
import { Model } from './model.ts';
import { readShape, unknownKeys } from './shape.ts';

/** The static rules of a model: what can be said of it without its database. */

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const sameColumns = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.some((other) => same(name, other)));

class Check {
  readonly #document: SemanticModel;
  readonly #model: Model;
  readonly faults: Fault[] = [];

  constructor(document: SemanticModel, dialect: Dialect) {
    this.#document = document;
    this.#model = new Model(document, dialect);
  }

  #add(path: string, message: string): void {
    if (this.faults.length < mostFaults) this.faults.push({ path, message });
  }

  /** Whether `check` went through; what it refuses is a fault at `path`, unless it names a better one. */
  #try(path: string, check: () => unknown): boolean {
    try {
      check();
      return true;
    } catch (error) {
      if (error instanceof SqlRefusal) this.#add(path, error.message);
      else if (error instanceof ApiError && error.code === 'unprocessable_entity') {
        const details = error.context.details as Fault[];
        this.#add(path, details.map(({ message }) => message).join('; '));
      } else throw error;
      return false;
    }
  }

  #unique(names: readonly string[], pathOf: (i: number) => string): void {
    const seen = new Set<string>();
    for (const [i, name] of names.entries()) {
      if (seen.has(name.toLowerCase())) this.#add(pathOf(i), `\`${name}\` is the name of another one`);
      seen.add(name.toLowerCase());
    }
  }

  /** Whether there is a text for this engine. */
  #hasDialect(expression: DialectExpressions, path: string): boolean {
    if (textFor(expression, this.#model.dialect) !== null) return true;
    this.#add(path, `dialect_missing: needs an expression in ${dialectsOf(this.#model.dialect).join(', ')}`);
    return false;
  }

  run(queries: readonly { sql?: string | undefined; query?: unknown }[]): Fault[] {
    const { datasets, relationships = [], metrics = [] } = this.#document;
    this.#unique(
      datasets.map(({ name }) => name),
      (i) => `semantic_model.datasets[${i}].name`,
    );
    this.#unique(
      relationships.map(({ name }) => name),
      (i) => `semantic_model.relationships[${i}].name`,
    );
    this.#unique(
      metrics.map(({ name }) => name),
      (i) => `semantic_model.metrics[${i}].name`,
    );
    for (const [i, dataset] of datasets.entries()) this.#dataset(dataset, `semantic_model.datasets[${i}]`);
    this.#relationships();
    // Metrics and queries are compiled from what is before them: their faults would only repeat its faults.
    if (this.faults.length > 0) return this.faults;
    this.#metrics();
    if (this.faults.length > 0) return this.faults;
    this.#queries(queries);
    return this.faults;
  }

  #dataset(dataset: Dataset, path: string): void {
    const source = sourceOf(dataset.source, this.#model.dialect);
    if (typeof source === 'string') this.#add(`${path}.source`, source);
    const fields = dataset.fields ?? [];
    this.#unique(
      fields.map(({ name }) => name),
      (k) => `${path}.fields[${k}].name`,
    );
    for (const [k, field] of fields.entries()) {
      const at = `${path}.fields[${k}].expression`;
      if (!this.#hasDialect(field.expression, at) || typeof source === 'string') continue;
      this.#try(at, () => this.#field(dataset, field.name));
    }
  }

  /** Parses a field and prints it. A column alone is only parsed: it can be printed on every engine. */
  #field(dataset: Dataset, name: string): void {
    const table = this.#model.table(dataset);
    const column = table.columns.find((each) => each.name === name)!;
    const { expression } = column;
    if (expression!.kind === 'column' && expression!.table === null) return;
    // Fields that are nothing but a column tell the type of that column.
    const plain = (dataset.fields ?? []).filter((field) =>
      /^\w+$/.test(textFor(field.expression, this.#model.dialect) ?? ''),
    );
    const others = table.columns.filter(
      (each) => each !== column && plain.some((field) => field.name === each.name),
    );
    const alone = { ...table, columns: [column, ...others] };
    const query = build.select({
      outputs: [build.output(build.column(null, name), name)],
      from: [{ kind: 'table', name: table.name, alias: null }],
    });
    print(resolve(query, [alone]), this.#model.dialect.engine);
  }

  #relationships(): void {
    const { datasets, relationships = [] } = this.#document;
    for (const [i, { from, to, from_columns, to_columns }] of relationships.entries()) {
      const path = `semantic_model.relationships[${i}]`;
      const find = (name: string, key: string): Dataset | undefined => {
        const found = datasets.find((dataset) => same(dataset.name, name));
        const names = datasets.map((dataset) => dataset.name);
        if (!found)
          this.#add(`${path}.${key}`, `there is no dataset \`${name}\`${didYouMean(nearest(name, names))}`);
        return found;
      };
      find(from, 'from');
      const target = find(to, 'to');
      if (from_columns.length !== to_columns.length)
        this.#add(`${path}.to_columns`, 'must have as many columns as from_columns');
      const keys = target ? [target.primary_key ?? [], ...(target.unique_keys ?? [])] : [];
      if (target && !keys.some((key) => sameColumns(key, to_columns)))
        this.#add(`${path}.to_columns`, `must be the primary key or a unique key of \`${target.name}\``);
    }
  }

  #metrics(): void {
    const compile = compilerOf(this.#model);
    for (const [i, metric] of (this.#document.metrics ?? []).entries()) {
      const path = `semantic_model.metrics[${i}].expression`;
      if (this.#hasDialect(metric.expression, path))
        this.#try(path, () => compile({ query: { metrics: [metric.name] } }, { limit: 1 }));
    }
  }

  #queries(queries: readonly { sql?: string | undefined; query?: unknown }[]): void {
    const compile = compilerOf(this.#model);
    for (const [i, { sql, query }] of queries.entries()) {
      const bySql = sql !== undefined;
      const request: Request = bySql ? { sql } : { query: query as Record<string, unknown> };
      this.#try(`verified_queries[${i}].${bySql ? 'sql' : 'query'}`, () => compile(request, { limit: 1 }));
    }
  }
}

const isPlain = (expression: Expression | undefined): boolean => expression?.kind === 'column';

export interface CheckedModel {
  /** The document as it was given. */
  model: unknown;
  faults: Fault[];
  warnings: Issue[];
}

/**
 * All faults of a model and its verified queries that need no database: the path of each, and what to write instead.
 * Nothing else of this folder may be called with a model that has faults.
 */
export const checkModel = (
  {
    semantic_model,
    verified_queries,
  }: {
    semantic_model: unknown;
    verified_queries: readonly { sql?: string | undefined; query?: unknown }[];
  },
  dialect: Dialect,
): CheckedModel => {
  const shape = readShape(semantic_model);
  if ('faults' in shape) return { model: semantic_model, faults: shape.faults, warnings: [] };
  const faults = new Check(shape.model as SemanticModel, dialect).run(verified_queries);
  return { model: semantic_model, faults, warnings: unknownKeys(shape.model) };
};

export interface DatasetColumns {
  source: Source;
  /** `datatype`: of a field that is nothing but this column. */
  columns: { name: string; path: string; datatype: Datatype | null }[];
}

const columnNames = (node: Expression): string[] =>
  node.kind === 'column' ? [node.name] : expressionsIn(node).flatMap(columnNames);

/** The columns of the database that a model, which has no faults, reads: of each dataset, in their order. */
export const readColumns = (document: SemanticModel, dialect: Dialect): DatasetColumns[] => {
  const model = new Model(document, dialect);
  return document.datasets.map((dataset, i) => {
    const path = `semantic_model.datasets[${i}]`;
    const fields = (dataset.fields ?? []).flatMap((field, k) => {
      const expression = expressionFor(field.expression, dialect);
      const datatype = isPlain(expression) ? (field.datatype ?? null) : null;
      const at = `${path}.fields[${k}]`;
      return [...new Set(columnNames(expression))].map((name) => ({ name, path: at, datatype }));
    });
    const keys = (dataset.primary_key ?? []).map((name, n) => ({ name, path: `${path}.primary_key[${n}]` }));
    const unique = (dataset.unique_keys ?? []).flatMap((key, u) =>
      key.map((name, n) => ({ name, path: `${path}.unique_keys[${u}][${n}]` })),
    );
    const joined = (document.relationships ?? []).flatMap(({ from, from_columns }, r) =>
      same(from, dataset.name)
        ? from_columns.map((name, n) => ({
            name,
            path: `semantic_model.relationships[${r}].from_columns[${n}]`,
          }))
        : [],
    );
    const others = [...keys, ...unique, ...joined].map((one) => ({ ...one, datatype: null }));
    return { source: model.table(dataset).source, columns: [...fields, ...others] };
  });
};
