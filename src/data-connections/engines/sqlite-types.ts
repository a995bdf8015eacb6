import type { Jobs } from '../../sandbox/index.ts';
import type { Datatype } from './values.ts';

/** Parts of declared types, first match first; then SQLite's own rules of affinity (sqlite.org/datatype3.html, 3.1). */
const byPart: readonly (readonly [RegExp, Datatype])[] = [
  [/BOOL/, 'Boolean'],
  [/DATETIME|TIMESTAMP/, 'DateTime'],
  [/DATE/, 'Date'],
  [/^TIME/, 'Time'],
  [/DEC|NUMERIC/, 'Decimal'],
  [/INT/, 'Integer'],
  [/CHAR|CLOB|TEXT/, 'String'],
  [/BLOB/, 'Opaque'],
  [/REAL|FLOA|DOUB/, 'Float'],
];

/** The declared type of a column may be empty. */
export const datatypeOfDeclared = (type: string): Datatype => {
  if (type === '') return 'Opaque';
  const upper = type.toUpperCase();
  return byPart.find(([part]) => part.test(upper))?.[1] ?? 'Decimal';
};

type SqliteKind = Jobs['sqliteQuery']['output']['columns'][number]['values'][number];

/** An expression has no declared type, so its values decide. */
export const datatypeOfKinds = (kinds: readonly SqliteKind[]): Datatype => {
  if (kinds.length === 0) return 'Opaque';
  if (kinds.includes('text')) return kinds.length === 1 ? 'String' : 'Opaque';
  return kinds.includes('fraction') ? 'Float' : 'Integer';
};
