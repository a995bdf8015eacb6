import { engines, parseSelect, print, resolve, SqlRefusal, type Table } from '../src/index.ts';

/** The tables of the tests of what SQL may say. */
export const tables: Table[] = [
  {
    name: 'orders',
    source: { schema: 'public', table: 'orders' },
    columns: [
      { name: 'id', datatype: 'Integer' },
      { name: 'status', datatype: 'String' },
      { name: 'day', datatype: 'Date' },
      { name: 'amount', datatype: 'Decimal', expression: { kind: 'column', table: null, name: 'total' } },
    ],
  },
];

/** Returns the reason why the SQL is refused over `tables`. Throws if it is accepted. */
export const refusalOf = (sql: string): SqlRefusal => {
  try {
    const resolved = resolve(parseSelect(sql), tables);
    for (const engine of engines) print(resolved, engine);
  } catch (error) {
    if (error instanceof SqlRefusal) return error;
    throw error;
  }
  throw new Error(`accepted: ${sql.slice(0, 200)}`);
};

/** The list only grows. What is refused, why, and what is named. */
