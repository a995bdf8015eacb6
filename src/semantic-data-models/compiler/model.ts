import {
  type Datatype,
  type Expression,
  matching,
  nearest,
  type Table,
  type TableColumn,
  typeOfField,
} from '@agent-platform/sql';
import type { Dialect } from '../../data-connections/index.ts';
import type { Dataset, Field, Metric, SemanticModel } from '../ossie.ts';
import { expressionFor, sourceOf } from './dialects.ts';
import { didYouMean, refused } from './faults.ts';
import { Graph } from './graph.ts';

/** A field, with the dataset that it is in. */
export interface FoundField {
  dataset: Dataset;
  field: Field;
}

/** The name of the column that a join needs and no user can name: names of fields have no colon. */
export const keyColumn = (column: string): string => `key:${column}`;

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The one that `name` means, which is cut if it comes from SQL. */
const onlyMatch = <T extends { name: string }>(items: readonly T[], name: string): T | undefined => {
  const [found, ...others] = matching(items, name, (item) => item.name);
  return others.length === 0 ? found : undefined;
};

/** A field as a column. Its expression is parsed when it is first needed: a model may have thousands. */
const fieldColumn = ({ name, datatype, expression }: Field, dialect: Dialect): TableColumn => {
  let parsed: Expression | undefined;
  return {
    name,
    datatype: datatype ?? null,
    get expression() {
      parsed ??= expressionFor(expression, dialect);
      return parsed;
    },
  };
};

/** A model as the compiler sees it: its tables, its fields by name, and how they are joined. */
export class Model {
  readonly dialect: Dialect;
  readonly document: SemanticModel;
  readonly graph: Graph;
  readonly #tables = new Map<Dataset, Table>();

  constructor(document: SemanticModel, dialect: Dialect) {
    this.document = document;
    this.dialect = dialect;
    this.graph = new Graph(document);
  }

  /** Datasets as tables and fields as columns. */
  table(dataset: Dataset): Table {
    let table = this.#tables.get(dataset);
    if (!table) {
      const source = sourceOf(dataset.source, this.dialect);
      if (typeof source === 'string') throw new Error(`${dataset.name}: ${source}`);
      const columns = (dataset.fields ?? []).map((field) => fieldColumn(field, this.dialect));
      table = { name: dataset.name, source, columns };
      this.#tables.set(dataset, table);
    }
    return table;
  }

  /** The tables that users' SQL can name. */
  tables(): Table[] {
    return this.document.datasets.map((dataset) => this.table(dataset));
  }

  /** The column that a field is, if it is a Date on MySQL and nothing but a column; else null. */
  storedDate({ dataset, field }: FoundField): string | null {
    if (this.dialect.engine !== 'mysql' || field.datatype !== 'Date') return null;
    const { expression } = this.table(dataset).columns.find(({ name }) => name === field.name)!;
    return expression?.kind === 'column' ? expression.name : null;
  }

  /** The same with the columns that relationships join by, and those of `dates`, which filters name. */
  joinedTables(dates: readonly FoundField[]): Table[] {
    const keys = new Map<string, Set<string>>();
    const add = (name: string, columns: readonly string[]) => {
      const known = keys.get(name.toLowerCase()) ?? new Set();
      for (const column of columns) known.add(column);
      keys.set(name.toLowerCase(), known);
    };
    for (const { from, to, from_columns, to_columns } of this.graph.relationships) {
      add(from, from_columns);
      add(to, to_columns);
    }
    for (const date of dates) add(date.dataset.name, [this.storedDate(date)!]);
    return this.document.datasets.map((dataset) => {
      const table = this.table(dataset);
      const columns = [...(keys.get(dataset.name.toLowerCase()) ?? [])].map(
        (name): TableColumn => ({
          name: keyColumn(name),
          datatype: null,
          expression: { kind: 'column', table: null, name },
        }),
      );
      return { ...table, columns: [...table.columns, ...columns] };
    });
  }

  dataset(name: string): Dataset | undefined {
    return onlyMatch(this.document.datasets, name);
  }

  /** The field of `dataset.field`; undefined if there is none. */
  field(name: string): FoundField | undefined {
    const [datasetName = '', fieldName, more] = name.split('.');
    if (fieldName === undefined || more !== undefined) return undefined;
    const dataset = this.dataset(datasetName);
    const field = onlyMatch(dataset?.fields ?? [], fieldName);
    return dataset && field ? { dataset, field } : undefined;
  }

  /** Throws 422 at `path`, with the nearest names. */
  requireField(name: string, path: string): FoundField {
    const found = this.field(name);
    if (found) return found;
    const names = this.document.datasets.flatMap((dataset) =>
      (dataset.fields ?? []).map((field) => `${dataset.name}.${field.name}`),
    );
    const plain = name.split('.').at(-1)!;
    // Without its dataset, or with the wrong one, the field itself is what is meant.
    const suggestions = [
      ...names.filter((each) => same(each.split('.')[1]!, plain)),
      ...nearest(name, names),
    ].filter((each, i, all) => all.indexOf(each) === i);
    throw refused(path, `there is no field \`${name}\`${didYouMean(suggestions.slice(0, 5))}`, {
      reason: 'unknown_field',
      name,
      suggestions: suggestions.slice(0, 5),
    });
  }

  /** Throws 422 at `path`, with the nearest names. */
  requireMetric(name: string, path: string): Metric {
    const metrics = this.document.metrics ?? [];
    const found = metrics.find((metric) => same(metric.name, name));
    if (found) return found;
    const suggestions = nearest(
      name,
      metrics.map((metric) => metric.name),
    );
    throw refused(path, `there is no metric \`${name}\`${didYouMean(suggestions)}`, {
      reason: 'unknown_metric',
      name,
      suggestions,
    });
  }

  /** The datatype that a field declares, else that of its expression; null if that is not known. */
  datatype({ dataset, field }: FoundField): Datatype | null {
    if (field.datatype !== undefined) return field.datatype;
    const table = this.table(dataset);
    const column = table.columns.find((each) => each.name === field.name)!;
    const type = typeOfField(table, column);
    return type === 'Unknown' || type === 'Null' || type === 'Interval' ? null : type;
  }
}
