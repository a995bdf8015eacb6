import { type Datatype, parseExpression } from '@agent-platform/sql';
import type { TableInfo } from '../data-connections/index.ts';

/** A dataset, field, relationship and metric as they are written: the parts of Ossie that a scaffold uses. */
interface ScaffoldField {
  name: string;
  expression: Expression;
  dimension?: { is_time: boolean };
  datatype: Datatype;
  description?: string;
}
interface Expression {
  dialects: { dialect: string; expression: string }[];
}
export interface ScaffoldDataset {
  name: string;
  source: string;
  primary_key?: string[];
  unique_keys?: string[][];
  description?: string;
  fields: ScaffoldField[];
}
interface ScaffoldRelationship {
  name: string;
  from: string;
  to: string;
  from_columns: string[];
  to_columns: string[];
}
interface ScaffoldMetric {
  name: string;
  expression: Expression;
  datatype: Datatype;
}
export interface ScaffoldModel {
  name: string;
  datasets: ScaffoldDataset[];
  relationships: ScaffoldRelationship[];
  metrics: ScaffoldMetric[];
}

const longest = 128;

/** `OrderItems` and `Größe (cm)` as `order_items` and `grosse_cm`. */
export const snakeCase = (text: string): string => {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return (/^[a-z]/.test(plain) ? plain : `_${plain}`).slice(0, longest);
};

/** Gives each name once: the second `a` is `a_2`. */
const unique = (names: readonly string[]): string[] => {
  const taken = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let n = 2; taken.has(free); n++) free = `${name.slice(0, longest - 1 - String(n).length)}_${n}`;
    taken.add(free);
    return free;
  });
};

/** A name as it stands in an expression or a source: quoted unless it means itself without. */
const quoted = (name: string): string => {
  if (/^[a-z_][a-z0-9_]*$/.test(name) && isColumn(name)) return name;
  return `"${name.replaceAll('"', '""')}"`;
};

/** SQL reads the word as a name, and not as one of its own. */
const isColumn = (word: string): boolean => {
  try {
    const { kind } = parseExpression(`${word}.${word}`);
    return kind === 'column' && parseExpression(word).kind === 'column';
  } catch {
    return false;
  }
};

const expression = (text: string): Expression => ({ dialects: [{ dialect: 'ANSI_SQL', expression: text }] });

const temporal: readonly Datatype[] = ['Date', 'Time', 'DateTime', 'DateTimeTz'];
const numeric: readonly Datatype[] = ['Integer', 'Decimal', 'Float'];

/** Numbers that are names: adding them up means nothing. */
const isNoMeasure = (column: string): boolean =>
  /(_id|_key|_code|_no|^year|^zip.*|^id)$/.test(snakeCase(column));

const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Named {
  table: TableInfo;
  name: string;
  /** The names of the fields by those of their columns. */
  fields: Map<string, string>;
}

const nameDatasets = (tables: readonly TableInfo[], defaultSchema: string): Named[] => {
  const short = tables.map(({ name }) => snakeCase(name));
  const names = unique(
    tables.map(({ schema, name }, i) =>
      short.filter((one) => one === short[i]).length > 1 && schema !== defaultSchema
        ? snakeCase(`${schema}_${name}`)
        : short[i]!,
    ),
  );
  return tables.map((table, i) => {
    const fields = unique(table.columns.map((column) => snakeCase(column.name)));
    return {
      table,
      name: names[i]!,
      fields: new Map(table.columns.map((column, c) => [column.name, fields[c]!])),
    };
  });
};

const datasetOf = ({ table, name, fields }: Named, withSchema: boolean): ScaffoldDataset => ({
  name,
  source: [...(withSchema ? [table.schema] : []), table.name].map(quoted).join('.'),
  ...(table.primary_key.length > 0 ? { primary_key: table.primary_key } : {}),
  ...(table.unique_keys.length > 0 ? { unique_keys: table.unique_keys } : {}),
  ...(table.comment === null ? {} : { description: table.comment }),
  fields: table.columns.map((column) => ({
    name: fields.get(column.name)!,
    expression: expression(quoted(column.name)),
    ...(temporal.includes(column.datatype) ? { dimension: { is_time: true } } : {}),
    datatype: column.datatype,
    ...(column.comment === null ? {} : { description: column.comment }),
  })),
});

const relationshipsOf = (named: readonly Named[]): ScaffoldRelationship[] => {
  const found = named.flatMap(({ table, name }) =>
    table.foreign_keys.flatMap((key) => {
      const to = named.find((one) => one.table.schema === key.to_schema && one.table.name === key.to_table);
      const keys = to ? [to.table.primary_key, ...to.table.unique_keys] : [];
      // A foreign key may refer to columns that this user may not read, or to a key that is no constraint.
      const isKey = keys.some(
        (columns) =>
          columns.length === key.to_columns.length && columns.every((c) => key.to_columns.includes(c)),
      );
      if (!to || !isKey) return [];
      return [{ from: name, to: to.name, from_columns: key.columns, to_columns: key.to_columns }];
    }),
  );
  const pairOf = ({ from, to }: { from: string; to: string }) => `${from}_to_${to}`;
  const names = unique(
    found.map((one) => {
      const several = found.filter((other) => pairOf(other) === pairOf(one)).length > 1;
      return (
        several ? `${pairOf(one)}_via_${one.from_columns.map(snakeCase).join('_')}` : pairOf(one)
      ).slice(0, longest);
    }),
  );
  return found.map((one, i) => ({ name: names[i]!, ...one }));
};

const metricsOf = (named: readonly Named[]): ScaffoldMetric[] => {
  const counts = named.flatMap(({ table, name, fields }): ScaffoldMetric[] => {
    const [key] = table.primary_key;
    const field = key === undefined ? undefined : fields.get(key);
    if (field === undefined) return [];
    return [
      {
        name: `${name.slice(0, longest - 6)}_count`,
        expression: expression(`COUNT(${quoted(name)}.${quoted(field)})`),
        datatype: 'Integer',
      },
    ];
  });
  const sums = named.flatMap(({ table, name, fields }) => {
    const keys = new Set([
      ...table.primary_key,
      ...table.unique_keys.flat(),
      ...table.foreign_keys.flatMap(({ columns }) => columns),
    ]);
    return table.columns
      .filter(
        ({ name: column, datatype }) =>
          numeric.includes(datatype) && !keys.has(column) && !isNoMeasure(column),
      )
      .map(({ name: column, datatype }) => ({ dataset: name, field: fields.get(column)!, datatype }));
  });
  const totals = sums.map(({ dataset, field, datatype }): ScaffoldMetric => {
    const clashes = sums.filter((other) => other.field === field).length > 1;
    return {
      name: `total_${clashes ? `${dataset}_` : ''}${field}`.slice(0, longest),
      expression: expression(`SUM(${quoted(dataset)}.${quoted(field)})`),
      datatype,
    };
  });
  const all = [...counts, ...totals];
  const names = unique(all.map(({ name }) => name));
  return all.map((metric, i) => ({ ...metric, name: names[i]! }));
};

/** Tables in the order of the datasets that are made of them. */
export const inOrder = (tables: readonly TableInfo[]): TableInfo[] =>
  [...tables].sort((a, b) => byCode(a.schema, b.schema) || byCode(a.name, b.name));

/**
 * A model of these tables: a dataset for each table, a field for each column, keys and relationships from constraints,
 * and metrics that count rows and add up numbers. The same tables always give the same model. `defaultSchema` is the one
 * whose tables keep their names on a clash; a SQLite source has no schema.
 */
export const scaffoldModel = (
  name: string,
  tables: readonly TableInfo[],
  { defaultSchema, withSchema }: { defaultSchema: string; withSchema: boolean },
): ScaffoldModel => {
  const named = nameDatasets(inOrder(tables), defaultSchema);
  return {
    name,
    datasets: named.map((one) => datasetOf(one, withSchema)),
    relationships: relationshipsOf(named),
    metrics: metricsOf(named),
  };
};
