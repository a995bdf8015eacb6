import type { TypeName } from 'libpg-query';
import { notSupported } from '../refusal.ts';
import type { CastType } from '../tree.ts';
import { namesOf, only } from './read.ts';

/** Names of types as PostgreSQL's grammar gives them (`integer` is `int4`), and those of Ossie. */
const known: Record<string, CastType['type']> = {
  text: 'String',
  varchar: 'String',
  string: 'String',
  int: 'Integer',
  integer: 'Integer',
  bigint: 'Integer',
  int2: 'Integer',
  int4: 'Integer',
  int8: 'Integer',
  numeric: 'Decimal',
  decimal: 'Decimal',
  float4: 'Float',
  float8: 'Float',
  float: 'Float',
  double: 'Float',
  bool: 'Boolean',
  boolean: 'Boolean',
  date: 'Date',
  time: 'Time',
  timestamp: 'DateTime',
  timestamp_ntz: 'DateTime',
  timestamptz: 'DateTimeTz',
};

const names =
  'text, varchar(n), integer, bigint, numeric(p, s), double precision, boolean, date, time, timestamp';

/** Fewer than every engine has. */
const mostDigits = 38;
const mostCharacters = 10_000;

/** The name of a type without its schema, which the grammar adds; null if it has another schema. */
export const typeNameOf = (type: TypeName): string | null => {
  const parts = namesOf(type.names);
  if (parts.length === 2 && parts[0] === 'pg_catalog') return parts[1]!;
  return parts.length === 1 ? parts[0]! : null;
};

/** The whole numbers in the parentheses of a type. */
export const modifiersOf = (type: TypeName): number[] =>
  (type.typmods ?? []).map((node) => {
    const value = 'A_Const' in node ? node.A_Const.ival : undefined;
    if (!value) throw notSupported('A length or precision must be a whole number.');
    return value.ival ?? 0;
  });

export const readType = (type: TypeName, at: number | undefined): CastType => {
  const name = typeNameOf(type);
  const shown = name ?? namesOf(type.names).join('.');
  only(shown, type, ['names', 'typmods', 'typemod'], at);
  if (name === null || !Object.hasOwn(known, name))
    throw notSupported(`A cast to \`${shown}\` is not supported. Cast to one of: ${names}.`, shown, at);
  const to = known[name]!;
  const modifiers = modifiersOf(type);
  if (modifiers.length === 0) return { type: to };
  const [first = 0, scale = 0] = modifiers;
  if (to === 'Decimal' && modifiers.length <= 2) {
    if (first < 1 || first > mostDigits || scale < 0 || scale > first)
      throw notSupported(`A numeric type has 1 to ${mostDigits} digits.`, shown, at);
    return { type: to, digits: { precision: first, scale } };
  }
  if (name === 'varchar' && modifiers.length === 1 && first >= 1 && first <= mostCharacters)
    return { type: to, length: first };
  throw notSupported(`The type \`${shown}\` is not supported with a length or precision.`, shown, at);
};
