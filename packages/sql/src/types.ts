/** The datatypes of semantic models and data frames. */
export const datatypes = [
  'Integer',
  'Decimal',
  'Float',
  'Boolean',
  'Date',
  'Time',
  'DateTime',
  'DateTimeTz',
  'String',
  'Opaque',
] as const;
export type Datatype = (typeof datatypes)[number];

/**
 * The type of an expression. `Unknown`: nothing is known, so that nothing is refused for its type (Opaque columns too).
 * `Null`: the constant NULL, which fits everywhere. An `Interval` can only be added to a date or subtracted from it.
 */
export type Type = Exclude<Datatype, 'Opaque'> | 'Unknown' | 'Null' | 'Interval';

export const typeOf = (datatype: Datatype | null): Type =>
  datatype === null || datatype === 'Opaque' ? 'Unknown' : datatype;

/** Null when it is not known: then what the database's driver reports is all there is. */
export const datatypeOf = (type: Type): Datatype | null =>
  type === 'Unknown' || type === 'Null' || type === 'Interval' ? null : type;

export const isNumeric = (type: Type): boolean =>
  type === 'Integer' || type === 'Decimal' || type === 'Float';
export const isTemporal = (type: Type): boolean =>
  type === 'Date' || type === 'DateTime' || type === 'DateTimeTz';
export const isOpen = (type: Type): boolean => type === 'Unknown' || type === 'Null';

/** From the narrowest to the widest: the common type of two of one list is the later one. */
const ladders: Type[][] = [
  ['Integer', 'Decimal', 'Float'],
  ['Date', 'DateTime', 'DateTimeTz'],
];

/** The type that holds values of both, or null if there is none. */
export const commonType = (a: Type, b: Type): Type | null => {
  if (a === b || b === 'Null') return a;
  if (a === 'Null') return b;
  if (a === 'Unknown' || b === 'Unknown') return 'Unknown';
  for (const ladder of ladders) {
    const [i, j] = [ladder.indexOf(a), ladder.indexOf(b)];
    if (i !== -1 && j !== -1) return ladder[Math.max(i, j)]!;
  }
  return null;
};
