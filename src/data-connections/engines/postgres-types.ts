import type { Datatype } from './values.ts';

/** The datatypes of PostgreSQL's own types, by their names in `pg_type`. */
const byName: Record<string, Datatype> = {
  int2: 'Integer',
  int4: 'Integer',
  int8: 'Integer',
  oid: 'Integer',
  numeric: 'Decimal',
  float4: 'Float',
  float8: 'Float',
  bool: 'Boolean',
  date: 'Date',
  time: 'Time',
  timetz: 'Time',
  timestamp: 'DateTime',
  timestamptz: 'DateTimeTz',
  text: 'String',
  varchar: 'String',
  bpchar: 'String',
  char: 'String',
  name: 'String',
  uuid: 'String',
  citext: 'String',
  unknown: 'String',
};

/** The same, by their OIDs, which never change (`pg_type.dat`). */
const byOid: Record<number, Datatype> = {
  16: 'Boolean',
  18: 'String',
  19: 'String',
  20: 'Integer',
  21: 'Integer',
  23: 'Integer',
  25: 'String',
  26: 'Integer',
  700: 'Float',
  701: 'Float',
  705: 'String',
  1042: 'String',
  1043: 'String',
  1082: 'Date',
  1083: 'Time',
  1114: 'DateTime',
  1184: 'DateTimeTz',
  1266: 'Time',
  1700: 'Decimal',
  2950: 'String',
};

/** Types of extensions have no fixed OID. */
export const datatypeOfOid = (oid: number): Datatype => byOid[oid] ?? 'Opaque';

/** `typtype` is `e` for an enum. */
export const datatypeOfType = (name: string, typtype: string): Datatype =>
  typtype === 'e' ? 'String' : (byName[name] ?? 'Opaque');
