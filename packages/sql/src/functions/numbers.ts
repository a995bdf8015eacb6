import { isNumeric, type Type } from '../types.ts';
import { type Call, everywhere, type Printer, type Scalar, wholeOf } from './spec.ts';

const same = ([type]: Type[]): Type => (type && isNumeric(type) ? type : 'Decimal');
const float = () => 'Float' as const;

/** PostgreSQL rounds doubles to whole numbers only; a numeric to any digit. */
const exactPostgres = ({ args, types }: Call): string =>
  types[0] === 'Float' || types[0] === 'Unknown' ? `CAST(${args[0]} AS numeric)` : args[0]!;

const digitsOf = ({ constants }: Call): number | null => wholeOf(constants[1]);

/** Returns SQL for the nearest number towards zero: the rounded number, or one unit of its last digit less. */
const truncated = (sql: string, rounded: string, digits: number): string => {
  const unit = digits > 0 ? `0.${'0'.repeat(digits - 1)}1` : `1${'0'.repeat(-digits)}`;
  return `CASE WHEN abs(${rounded}) > abs(${sql}) THEN ${rounded} - sign(${sql}) * ${unit} ELSE ${rounded} END`;
};

const rounding = (name: 'round' | 'trunc'): Scalar => ({
  params: ['number', 'number'],
  optional: 1,
  whole: { 1: [-15, 15] },
  type: (types) => (types.length > 1 && types[0] === 'Float' ? 'Decimal' : same(types)),
  print: {
    postgres: (call) => {
      const digits = digitsOf(call);
      if (digits === null) return `pg_catalog.${name}(${call.args[0]})`;
      return `pg_catalog.${name}(${exactPostgres(call)}, ${digits})`;
    },
    mysql: (call) => {
      const digits = digitsOf(call);
      // Doubles are rounded to the even neighbour, as on PostgreSQL; to a digit they are decimals there.
      const exact = digits !== null && call.types[0] === 'Float';
      const rounded = (number: string) =>
        `${name === 'round' ? 'ROUND' : 'TRUNCATE'}(${number}, ${digits ?? 0})`;
      const [sql] = call.args as [string];
      // A double that no decimal can hold has no digits to round.
      return exact
        ? `CASE WHEN ABS(${sql}) < 1e44 THEN ${rounded(`CAST(${sql} AS DECIMAL(65, 20))`)} ELSE ${sql} END`
        : rounded(sql);
    },
    sqlite: (call) => {
      const digits = digitsOf(call) ?? 0;
      const [sql] = call.args as [string];
      if (name === 'trunc' && digits === 0) return `trunc(${sql})`;
      if (name === 'round' && call.args.length === 1 && call.types[0] === 'Float')
        return `CASE WHEN abs(${sql} - trunc(${sql})) = 0.5 THEN 2 * round(${sql} / 2.0) ELSE round(${sql}) END`;
      return `decimal_${name}(${sql}, ${digits})`;
    },
    duckdb: (call) => {
      const digits = digitsOf(call);
      const [sql] = call.args as [string];
      if (name === 'trunc' && (digits ?? 0) === 0) return `trunc(${sql})`;
      if (digits === null) return call.types[0] === 'Float' ? `round_even(${sql}, 0)` : `round(${sql})`;
      // A double of 1.005 would round to 1.00: it is a little less. A Decimal may be a double too; COALESCE keeps its
      // type.
      const rounded =
        call.types[0] === 'Integer'
          ? `round(${sql}, ${digits})`
          : `COALESCE(round(TRY_CAST(${sql} AS DECIMAL(38, 15)), ${digits}), round(${sql}, ${digits}))`;
      return name === 'round' ? rounded : `round(${truncated(sql, rounded, digits)}, ${digits})`;
    },
  },
});

/** NULLs are passed over. MySQL and SQLite would give NULL, so each argument stands in for the ones that are NULL. */
const overNull =
  (name: string): Printer =>
  ({ args }) => {
    if (args.length === 1) return args[0]!;
    const filled = args.map((_, i) => `COALESCE(${[...args.slice(i), ...args.slice(0, i)].join(', ')})`);
    return `${name}(${filled.join(', ')})`;
  };

const extreme = (postgres: string, sqlite: string): Scalar => ({
  params: ['any'],
  variadic: true,
  unified: true,
  type: ([type]) => type!,
  print: {
    postgres: ({ args }) => `${postgres}(${args.join(', ')})`,
    mysql: overNull(postgres),
    sqlite: overNull(sqlite),
    duckdb: ({ args }) => `${postgres}(${args.join(', ')})`,
  },
});

/** PostgreSQL has these for doubles and numerics; the others only for doubles. */
const ofDouble = (name: string, others: Parameters<typeof everywhere>[1] = {}): Scalar => ({
  params: ['number'],
  type: float,
  print: {
    ...everywhere(name, others),
    postgres: ({ args }) => `pg_catalog.${name}(CAST(${args[0]} AS double precision))`,
  },
});

export const numberFunctions: Record<string, Scalar> = {
  abs: { params: ['number'], type: same, print: everywhere('abs') },
  sign: { params: ['number'], type: same, print: everywhere('sign') },
  floor: { params: ['number'], type: same, print: everywhere('floor') },
  ceil: { params: ['number'], type: same, print: everywhere('ceil') },
  round: rounding('round'),
  trunc: rounding('trunc'),
  sqrt: ofDouble('sqrt'),
  exp: ofDouble('exp'),
  ln: ofDouble('ln'),
  log10: {
    ...ofDouble('log10'),
    print: { ...ofDouble('log10').print, postgres: ofDouble('log').print.postgres },
  },
  log: {
    params: ['number', 'number'],
    type: float,
    print: {
      ...everywhere('log'),
      postgres: ({ args }) =>
        `CAST(pg_catalog.log(CAST(${args[0]} AS numeric), CAST(${args[1]} AS numeric)) AS double precision)`,
    },
  },
  power: {
    params: ['number', 'number'],
    type: float,
    print: {
      ...everywhere('power'),
      postgres: ({ args }) =>
        `pg_catalog.power(CAST(${args[0]} AS double precision), CAST(${args[1]} AS double precision))`,
    },
  },
  greatest: extreme('GREATEST', 'max'),
  least: extreme('LEAST', 'min'),
};
