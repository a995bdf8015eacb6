import { type Datatype, type Expression, expressionsIn, type Source } from '@agent-platform/sql';
import type { Dialect } from '../../data-connections/index.ts';
import type { SemanticModel } from '../ossie.ts';
import { expressionFor } from './dialects.ts';
import { Model } from './model.ts';

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const isPlain = (expression: Expression | undefined): boolean => expression?.kind === 'column';

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
