import { type Node, parseSync } from 'libpg-query';
import { describe, expect, it } from 'vitest';
import { tables } from '../tests/refusals.ts';
import { output, select } from './build.ts';
import { engines, parseSelect, print, resolve, SqlRefusal, type Table } from './index.ts';

/** All nodes of a tree of PostgreSQL's parser, by their type. */
const nodesOf = (root: unknown, type: string): Record<string, unknown>[] => {
  if (root === null || typeof root !== 'object') return [];
  if (Array.isArray(root)) return root.flatMap((each) => nodesOf(each, type));
  return Object.entries(root).flatMap(([key, value]) => [
    ...(key === type ? [value as Record<string, unknown>] : []),
    ...nodesOf(value, type),
  ]);
};

const hostile = [
  `x"; DROP TABLE orders; --`,
  `x'); DROP TABLE orders; --`,
  `\\'; DROP TABLE orders; --`,
  '/* ',
  ' */',
  '--',
  '$$',
  '$1',
  '?',
  '\n',
  '\u202e',
  '😀',
  'ﬀ',
  "''",
  '""',
  '`',
  '\\',
  '%s',
  '{x}',
  ';',
];

describe('what is printed', () => {
  it('quotes every name and binds every text, so that nothing of a caller is SQL', () => {
    for (const text of hostile) {
      const name = `n${text}`;
      const table: Table = {
        name,
        source: { schema: `s${text}`, table: `t${text}` },
        columns: [
          {
            name: `c${text}`,
            datatype: 'String',
            expression: { kind: 'column', table: null, name: `p${text}` },
          },
        ],
      };
      const quoted = (part: string) => `"${part.replaceAll('"', '""')}"`;
      const sql = `SELECT ${quoted(`c${text}`)} AS ${quoted(`a${text}`)} FROM ${quoted(name)} AS ${quoted(`b${text}`)} WHERE ${quoted(`c${text}`)} = '${text.replaceAll("'", "''")}' OR ${quoted(`c${text}`)} LIKE 'x${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
      const resolved = resolve(parseSelect(sql), [table]);
      for (const engine of engines) {
        const printed = print(resolved, engine);
        expect(printed.parameters[0]).toBe(text);
        const strings = printed.sql.replaceAll(/"(?:[^"]|"")*"/g, '').replaceAll(/'(?:[^']|'')*'/g, '');
        expect(strings).toMatch(/^[\w\s.,()=$?%*<>:]*$/);
        expect(strings).not.toMatch(/DROP|--|\/\*/);
      }
      const { stmts } = parseSync(print(resolved, 'postgres').sql);
      expect(stmts).toHaveLength(1);
      const relations = nodesOf(stmts, 'RangeVar').map((node) =>
        [node.schemaname, node.relname].filter(Boolean),
      );
      expect(relations).toContainEqual([`s${text}`, `t${text}`]);
    }
  });

  it('calls only functions of pg_catalog on PostgreSQL', () => {
    const sql =
      "SELECT lower(status), count(*), sum(amount) FILTER (WHERE day > '2024-01-01'), date_trunc('month', max(day)), string_agg(status, ',' ORDER BY id), median(amount), row_number() OVER (ORDER BY lower(status)), status || 'x', left(status, 2), status LIKE 'a%', round(min(amount), 2) FROM orders GROUP BY status, day";
    const { stmts } = parseSync(print(resolve(parseSelect(sql), tables), 'postgres').sql);
    const calls = nodesOf(stmts, 'FuncCall').map((call) => (call.funcname as Node[]).length);
    expect(calls.length).toBeGreaterThan(8);
    expect(new Set(calls)).toEqual(new Set([2]));
  });

  it('throws for a node that it does not know', () => {
    const call = { kind: 'call', name: 'pg_sleep', args: [] } as never;
    const unknown = select({ outputs: [output(call, 'x')] });
    expect(() => resolve(unknown, [])).toThrow(SqlRefusal);
    const raw = resolve(parseSelect('SELECT 1'), []);
    (raw.query as { outputs: unknown[] }).outputs = [{ kind: 'raw', sql: 'pg_sleep(1)', type: 'Unknown' }];
    for (const engine of engines) expect(() => print(raw, engine)).toThrow();
  });
});
