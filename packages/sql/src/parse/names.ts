import { aggregates } from '../functions/aggregates.ts';
import { parts } from '../functions/date-parts.ts';
import { aggregateOf, scalarOf, scalars } from '../functions/table.ts';
import { notSupported } from '../refusal.ts';
import { type Expression, units } from '../tree.ts';
import { nullConstant, numberConstant, textConstant } from '../values.ts';

/** Other names of functions with the same arguments. */
const renamed: Record<string, string> = {
  char_length: 'length',
  character_length: 'length',
  substr: 'substring',
  btrim: 'trim',
  startswith: 'starts_with',
  endswith: 'ends_with',
  ceiling: 'ceil',
  truncate: 'trunc',
  pow: 'power',
  now: 'current_timestamp',
  ifnull: 'coalesce',
  nvl: 'coalesce',
  stddev: 'stddev_samp',
  variance: 'var_samp',
  listagg: 'string_agg',
};

type Reader = (args: Expression[], name: string, at: number | undefined) => Expression;

const call = (name: string, args: Expression[], at?: number, unit?: string): Expression => ({
  kind: 'call',
  name,
  args,
  at,
  ...(unit === undefined ? {} : { unit }),
});

const counted =
  (least: number, most: number, read: Reader): Reader =>
  (args, name, at) => {
    if (args.length < least || args.length > most) throw wrongCount(name, least, most, args.length, at);
    return read(args, name, at);
  };

export const wrongCount = (
  name: string,
  least: number,
  most: number,
  given: number,
  at: number | undefined,
) => {
  const wanted =
    least === most ? String(least) : most === Infinity ? `at least ${least}` : `${least} to ${most}`;
  return notSupported(`\`${name}\` takes ${wanted} arguments, not ${given}.`, name, at);
};

/** `day`, `'day'` or `days`: a word, which the grammar takes for a column or a text. */
const wordOf = (argument: Expression | undefined): string | null => {
  if (argument?.kind === 'column' && argument.table === null) return argument.name.toLowerCase();
  if (argument?.kind === 'constant' && argument.type === 'String')
    return String(argument.value).trim().toLowerCase();
  return null;
};

const singular = (word: string): string => (word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word);

const unitOf = (argument: Expression | undefined, name: string): string => {
  const word = wordOf(argument);
  const unit = units.find((each) => word !== null && each === singular(word));
  if (!unit) throw notSupported(`\`${name}\` needs a unit: ${units.join(', ')}.`, word ?? name, argument?.at);
  return unit;
};

const partNames: Record<string, string> = {
  dayofweek: 'dayofweek',
  isodow: 'dayofweek',
  doy: 'dayofyear',
  second: 'seconds',
  seconds: 'seconds',
  millisecond: 'milliseconds',
  milliseconds: 'milliseconds',
};

const partOf = (argument: Expression | undefined, name: string): string => {
  const word = wordOf(argument);
  const known = word !== null && Object.hasOwn(partNames, word) ? partNames[word] : word;
  const part = parts.find((each) => each === known);
  if (!part || part === 'second' || (known !== word && !Object.hasOwn(partNames, word!)))
    throw notSupported(
      `\`${name}\` needs a part of a date: year, quarter, month, week, day, dayofweek, dayofyear, hour, minute, second.`,
      word ?? name,
      argument?.at,
    );
  return part;
};

const extracted: Reader = ([part, from], name, at) => call('extract', [from!], at, partOf(part, name));
const ofPart = (part: string): Reader => counted(1, 1, (args, _, at) => call('extract', args, at, part));

const choice: Reader = ([when, result, otherwise], _, at) => ({
  kind: 'case',
  operand: null,
  whens: [{ when: when!, result: result! }],
  otherwise: otherwise ?? nullConstant,
  at,
});

const zero = (): Expression => numberConstant('0')!;

/** Functions that are another one, or no function at all, with their arguments in another order. */
const rewritten: Record<string, Reader> = {
  charindex: counted(2, 2, ([part, whole], _, at) => call('strpos', [whole!, part!], at)),
  // `position(a IN b)`: the grammar has turned the arguments round.
  position: counted(2, 2, (args, _, at) => call('strpos', args, at)),
  mod: counted(2, 2, ([left, right], _, at) => ({
    kind: 'arithmetic',
    operator: '%',
    left: left!,
    right: right!,
    at,
  })),
  // With one argument PostgreSQL's is the decimal logarithm, MySQL's the natural one.
  log: counted(1, 2, (args, _, at) => call(args.length === 1 ? 'log10' : 'log', args, at)),
  if: counted(3, 3, choice),
  iff: counted(3, 3, choice),
  nvl2: counted(3, 3, ([arg, result, otherwise], name, at) =>
    choice([{ kind: 'is_null', arg: arg!, not: true }, result!, otherwise!], name, at),
  ),
  zeroifnull: counted(1, 1, ([arg], _, at) => call('coalesce', [arg!, zero()], at)),
  nullifzero: counted(1, 1, ([arg], _, at) => call('nullif', [arg!, zero()], at)),
  extract: counted(2, 2, extracted),
  date_part: counted(2, 2, extracted),
  date_trunc: counted(2, 2, ([unit, from], name, at) => call('date_trunc', [from!], at, unitOf(unit, name))),
  dateadd: counted(3, 3, ([unit, count, to], name, at) =>
    call('date_add', [count!, to!], at, unitOf(unit, name)),
  ),
  datediff: counted(3, 3, ([unit, from, to], name, at) =>
    call('date_diff', [from!, to!], at, unitOf(unit, name)),
  ),
  to_date: counted(1, 1, ([arg], _, at) => ({ kind: 'cast', arg: arg!, to: { type: 'Date' }, at })),
  to_timestamp: counted(1, 1, ([arg], _, at) => ({ kind: 'cast', arg: arg!, to: { type: 'DateTime' }, at })),
  dayofmonth: ofPart('day'),
  ...Object.fromEntries(
    ['year', 'quarter', 'month', 'week', 'day', 'dayofweek', 'dayofyear', 'hour', 'minute', 'second'].map(
      (part) => [part, ofPart(part)],
    ),
  ),
};

/** In the table, and reached by other names only. */
const hidden = new Set(['||', 'date_add', 'date_diff', 'current_date', 'localtime', 'localtimestamp']);

const own = (name: string): string => (Object.hasOwn(renamed, name) ? renamed[name]! : name);

/** The aggregate that users call `name`, or null. */
export const aggregateName = (name: string): string | null => (aggregateOf(own(name)) ? own(name) : null);

/** Reads a call of a function of one row; null if users have none of this name. */
export const readScalar = (name: string, args: Expression[], at: number | undefined): Expression | null => {
  if (Object.hasOwn(rewritten, name)) return rewritten[name]!(args, name, at);
  const scalar = scalarOf(own(name));
  if (!scalar || scalar.internal || hidden.has(own(name))) return null;
  const least = scalar.params.length - (scalar.optional ?? 0);
  const most = scalar.variadic ? Infinity : scalar.params.length;
  if (args.length < least || args.length > most) throw wrongCount(name, least, most, args.length, at);
  if ((name === 'ifnull' || name === 'nvl') && args.length !== 2)
    throw wrongCount(name, 2, 2, args.length, at);
  return call(own(name), args, at);
};

/** All that users may call. */
export const functionNames: readonly string[] = [
  ...new Set([
    ...Object.keys(scalars).filter((name) => !hidden.has(name) && !scalars[name]!.internal),
    ...Object.keys(aggregates),
    ...Object.keys(renamed),
    ...Object.keys(rewritten),
  ]),
];

/** `listagg` without a separator has none. */
export const withSeparator = (name: string, args: Expression[]): Expression[] =>
  name === 'listagg' && args.length === 1 ? [...args, textConstant('')] : args;
