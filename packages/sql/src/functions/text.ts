import type { Engine } from '../engines.ts';
import { engines } from '../engines.ts';
import { castSql } from './casts.ts';
import { type Call, everywhere, type Printer, type Scalar, wholeOf } from './spec.ts';

const text = () => 'String' as const;
const integer = () => 'Integer' as const;
const truth = () => 'Boolean' as const;

/** MySQL compares by the collation, which mostly ignores case; this compares characters. */
export const exact = (sql: string): string => `CONVERT(${sql} USING utf8mb4) COLLATE utf8mb4_bin`;

/** Returns whether a text holds another. `=` would pass over blanks at the end of either. */
const mysqlHolds = (sql: string, part: string): string => `(LOCATE(${part}, ${exact(sql)}) > 0)`;

/** The arguments as text, for `concat` and `||`, which take anything. */
const asText =
  (engine: Engine, join: (args: string[]) => string): Printer =>
  ({ args, types }) =>
    join(
      args.map((arg, i) =>
        types[i] === 'String' ? arg : castSql(engine, arg, types[i]!, { type: 'String' }),
      ),
    );

const forEach = (printer: (engine: Engine) => Printer): Scalar['print'] =>
  Object.fromEntries(engines.map((engine) => [engine, printer(engine)])) as Scalar['print'];

const called = (name: string) => (args: string[]) => `${name}(${args.join(', ')})`;

/** `trim` and its kin remove blanks, or any of the characters of the second argument. */
const trimming = (postgres: string, others: string, side: string): Scalar => ({
  params: ['text', 'text'],
  optional: 1,
  fixedText: [1],
  type: text,
  print: {
    ...everywhere(others, { postgres }),
    mysql: ({ args: [from], constants }) => {
      const characters = constants[1]?.value;
      if (characters === undefined) return `TRIM(${side} FROM ${from})`;
      // MySQL removes a text, the others a set of characters: the same for one character.
      if (typeof characters !== 'string' || [...characters].length !== 1 || characters === "'") return null;
      return `TRIM(${side} '${characters}' FROM ${from})`;
    },
  },
});

/** Returns the number of characters that `left` and `right` take: of a negative number all but that many. */
const taken = ({ args, constants }: Call, length: string, most: string): string => {
  const count = wholeOf(constants[1]);
  if (count !== null && count >= 0) return String(count);
  return `${most}(CASE WHEN ${args[1]} < 0 THEN ${length}(${args[0]}) + ${args[1]} ELSE ${args[1]} END, 0)`;
};

/** Start and length of a substring that lies inside the text: PostgreSQL counts positions before 1 too. */
const inside = ({ args, constants }: Call, greatest: string): [start: string, length: string | null] => {
  const [start, length] = [wholeOf(constants[1]), wholeOf(constants[2])];
  const long = args[2];
  if (start !== null && start >= 1) {
    if (long === undefined) return [String(start), null];
    return [String(start), length !== null ? String(Math.max(length, 0)) : `${greatest}(${long}, 0)`];
  }
  const first = `${greatest}(${args[1]}, 1)`;
  return [first, long === undefined ? null : `${greatest}(${args[1]} + ${long} - ${first}, 0)`];
};

const substring =
  (name: string, greatest: string): Printer =>
  (call) => {
    const [start, length] = inside(call, greatest);
    return `${name}(${call.args[0]}, ${start}${length === null ? '' : `, ${length}`})`;
  };

const bigintsAsInt = ({ args }: Call): string[] =>
  args.map((arg, i) => (i === 0 ? arg : `CAST(${arg} AS integer)`));

export const textFunctions: Record<string, Scalar> = {
  concat: {
    params: ['any'],
    variadic: true,
    type: text,
    print: {
      postgres: asText('postgres', called('pg_catalog.concat')),
      mysql: asText('mysql', (args) => `CONCAT_WS('', ${args.join(', ')})`),
      sqlite: asText('sqlite', called('concat')),
      duckdb: asText('duckdb', called('concat')),
    },
  },
  '||': {
    params: ['any', 'any'],
    type: text,
    print: forEach((engine) => asText(engine, (args) => `(${args.join(' || ')})`)),
  },
  length: { params: ['text'], type: integer, print: everywhere('length', { mysql: 'CHAR_LENGTH' }) },
  // SQLite's own know ASCII only.
  lower: { params: ['text'], type: text, print: everywhere('lower', { sqlite: 'unicode_lower' }) },
  upper: { params: ['text'], type: text, print: everywhere('upper', { sqlite: 'unicode_upper' }) },
  trim: trimming('btrim', 'trim', 'BOTH'),
  ltrim: trimming('ltrim', 'ltrim', 'LEADING'),
  rtrim: trimming('rtrim', 'rtrim', 'TRAILING'),
  left: {
    params: ['text', 'count'],
    type: text,
    print: {
      postgres: (call) => `pg_catalog.left(${bigintsAsInt(call).join(', ')})`,
      mysql: (call) => `LEFT(${call.args[0]}, ${taken(call, 'CHAR_LENGTH', 'GREATEST')})`,
      sqlite: (call) => `substr(${call.args[0]}, 1, ${taken(call, 'length', 'max')})`,
      duckdb: (call) => `left(${call.args[0]}, ${taken(call, 'length', 'greatest')})`,
    },
  },
  right: {
    params: ['text', 'count'],
    type: text,
    print: {
      postgres: (call) => `pg_catalog.right(${bigintsAsInt(call).join(', ')})`,
      mysql: (call) => `RIGHT(${call.args[0]}, ${taken(call, 'CHAR_LENGTH', 'GREATEST')})`,
      sqlite: (call) =>
        `substr(${call.args[0]}, max(length(${call.args[0]}) - ${taken(call, 'length', 'max')}, 0) + 1)`,
      duckdb: (call) => `right(${call.args[0]}, ${taken(call, 'length', 'greatest')})`,
    },
  },
  substring: {
    params: ['text', 'count', 'count'],
    optional: 1,
    type: text,
    print: {
      postgres: (call) => {
        const [start, length] = inside(call, 'greatest');
        const count = length === null ? '' : `, CAST(${length} AS integer)`;
        return `pg_catalog.substr(${call.args[0]}, CAST(${start} AS integer)${count})`;
      },
      mysql: substring('SUBSTRING', 'GREATEST'),
      sqlite: substring('substr', 'max'),
      duckdb: substring('substring', 'greatest'),
    },
  },
  replace: { params: ['text', 'text', 'text'], type: text, print: everywhere('replace') },
  split_part: {
    params: ['text', 'text', 'number'],
    fixedText: [1],
    whole: { 2: [1, 10_000] },
    type: text,
    print: {
      postgres: ({ args, constants }) =>
        `pg_catalog.split_part(${args[0]}, ${args[1]}, ${wholeOf(constants[2])})`,
      mysql: ({ args, constants }) => {
        const [from, by, part] = [args[0], args[1], wholeOf(constants[2])];
        const parts = `(CHAR_LENGTH(${from}) - CHAR_LENGTH(REPLACE(${from}, ${by}, ''))) / CHAR_LENGTH(${by}) + 1`;
        return `CASE WHEN ${part} > ${parts} THEN '' ELSE SUBSTRING_INDEX(SUBSTRING_INDEX(${from}, ${by}, ${part}), ${by}, -1) END`;
      },
      sqlite: null,
      duckdb: ({ args, constants }) => `split_part(${args[0]}, ${args[1]}, ${wholeOf(constants[2])})`,
    },
  },
  strpos: {
    params: ['text', 'text'],
    type: integer,
    print: {
      ...everywhere('strpos', { sqlite: 'instr' }),
      mysql: ({ args }) => `LOCATE(${args[1]}, ${exact(args[0]!)})`,
    },
  },
  contains: {
    params: ['text', 'text'],
    type: truth,
    print: {
      postgres: ({ args }) => `(pg_catalog.strpos(${args[0]}, ${args[1]}) > 0)`,
      mysql: ({ args }) => mysqlHolds(args[0]!, args[1]!),
      sqlite: ({ args }) => `(instr(${args[0]}, ${args[1]}) > 0)`,
      duckdb: ({ args }) => `contains(${args[0]}, ${args[1]})`,
    },
  },
  starts_with: {
    params: ['text', 'text'],
    type: truth,
    print: {
      postgres: ({ args }) => `pg_catalog.starts_with(${args[0]}, ${args[1]})`,
      mysql: ({ args }) => mysqlHolds(`LEFT(${args[0]}, CHAR_LENGTH(${args[1]}))`, args[1]!),
      sqlite: ({ args }) => `(substr(${args[0]}, 1, length(${args[1]})) = ${args[1]} COLLATE BINARY)`,
      duckdb: ({ args }) => `starts_with(${args[0]}, ${args[1]})`,
    },
  },
  ends_with: {
    params: ['text', 'text'],
    type: truth,
    print: {
      postgres: ({ args }) =>
        `(pg_catalog.right(${args[0]}, NULLIF(pg_catalog.length(${args[1]}), 0)) = ${args[1]} OR ${args[1]} = '' AND ${args[0]} IS NOT NULL)`,
      mysql: ({ args }) => mysqlHolds(`RIGHT(${args[0]}, CHAR_LENGTH(${args[1]}))`, args[1]!),
      sqlite: ({ args }) =>
        `(substr(${args[0]}, max(length(${args[0]}) - length(${args[1]}), 0) + 1) = ${args[1]} COLLATE BINARY)`,
      duckdb: ({ args }) => `ends_with(${args[0]}, ${args[1]})`,
    },
  },
  regexp_like: {
    params: ['text', 'text'],
    type: truth,
    print: {
      postgres: ({ args }) => `(${args[0]} OPERATOR(pg_catalog.~) ${args[1]})`,
      mysql: ({ args }) => `(${exact(args[0]!)} REGEXP ${args[1]})`,
      sqlite: null,
      duckdb: ({ args }) => `regexp_matches(${args[0]}, ${args[1]})`,
    },
  },
};
