import mysql2, { type FieldPacket } from 'mysql2';
import type { Datatype } from './values.ts';

// A getter of a CommonJS module, which is no named export.
const { Types } = mysql2;

/** The character set of bytes. */
const binary = 63;

const byType: Record<number, Datatype> = {
  [Types.TINY]: 'Integer',
  [Types.SHORT]: 'Integer',
  [Types.LONG]: 'Integer',
  [Types.INT24]: 'Integer',
  [Types.LONGLONG]: 'Integer',
  [Types.YEAR]: 'Integer',
  [Types.DECIMAL]: 'Decimal',
  [Types.NEWDECIMAL]: 'Decimal',
  [Types.FLOAT]: 'Float',
  [Types.DOUBLE]: 'Float',
  [Types.DATE]: 'Date',
  [Types.NEWDATE]: 'Date',
  [Types.TIME]: 'Time',
  [Types.DATETIME]: 'DateTime',
  [Types.TIMESTAMP]: 'DateTimeTz',
};

const texts: readonly number[] = [
  Types.VARCHAR,
  Types.VAR_STRING,
  Types.STRING,
  Types.ENUM,
  Types.SET,
  Types.TINY_BLOB,
  Types.BLOB,
  Types.MEDIUM_BLOB,
  Types.LONG_BLOB,
];

export const datatypeOfField = ({ columnType, columnLength, characterSet }: FieldPacket): Datatype => {
  const type = columnType ?? -1;
  if ((type === Types.TINY || type === Types.BIT) && columnLength === 1) return 'Boolean';
  if (texts.includes(type)) return characterSet === binary ? 'Opaque' : 'String';
  return byType[type] ?? 'Opaque';
};

const byName: Record<string, Datatype> = {
  tinyint: 'Integer',
  smallint: 'Integer',
  mediumint: 'Integer',
  int: 'Integer',
  bigint: 'Integer',
  year: 'Integer',
  decimal: 'Decimal',
  float: 'Float',
  double: 'Float',
  date: 'Date',
  time: 'Time',
  datetime: 'DateTime',
  timestamp: 'DateTimeTz',
  char: 'String',
  varchar: 'String',
  tinytext: 'String',
  text: 'String',
  mediumtext: 'String',
  longtext: 'String',
  enum: 'String',
  set: 'String',
  uuid: 'String',
};

export const datatypeOfColumn = (dataType: string, columnType: string): Datatype =>
  /^(tinyint|bit)\(1\)/i.test(columnType) ? 'Boolean' : (byName[dataType.toLowerCase()] ?? 'Opaque');

/** The number that was stored in four bytes, with no more digits than that: 0.1 instead of 0.10000000149011612. */
export const shortestFloat = (value: number): number => {
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
};

export const isFloat = ({ columnType }: FieldPacket): boolean => columnType === Types.FLOAT;
