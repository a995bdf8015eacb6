import type { Printer, Scalar } from './spec.ts';

const keyword =
  (name: string): Printer =>
  ({ args }) =>
    `${name}(${args.join(', ')})`;

const everywhere = (name: string) => ({
  postgres: keyword(name),
  mysql: keyword(name),
  sqlite: keyword(name),
  duckdb: keyword(name),
});

export const conditionFunctions: Record<string, Scalar> = {
  coalesce: {
    params: ['any'],
    variadic: true,
    unified: true,
    type: ([type]) => type!,
    print: {
      ...everywhere('COALESCE'),
      // SQLite's takes two or more.
      sqlite: ({ args }) => (args.length === 1 ? args[0]! : `COALESCE(${args.join(', ')})`),
    },
  },
  nullif: {
    params: ['any', 'any'],
    unified: true,
    type: ([type]) => type!,
    print: everywhere('NULLIF'),
  },
};
