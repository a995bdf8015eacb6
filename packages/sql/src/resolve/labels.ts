import type { Expression, Select } from '../tree.ts';

const functionLabels: Partial<Record<Expression['kind'], string>> = { case: 'case', exists: 'exists' };

/** The name that PostgreSQL gives a column without AS. */
export const labelOf = (node: Expression): string => {
  switch (node.kind) {
    case 'column':
    case 'call':
    case 'aggregate':
      return node.name === '||' ? '?column?' : node.name;
    case 'cast': {
      const inner = labelOf(node.arg);
      return inner === '?column?' ? node.to.type.toLowerCase() : inner;
    }
    case 'query':
      return node.query.kind === 'select' ? firstLabel(node.query) : '?column?';
    default:
      return functionLabels[node.kind] ?? '?column?';
  }
};

const firstLabel = (select: Select): string => {
  const [output] = select.outputs;
  return output?.kind === 'output' ? (output.as ?? labelOf(output.expression)) : '?column?';
};
