/** The datatypes of a frame's columns. They have one value each on the way in (text) and in DuckDB. */
export const frameDatatypes = [
  'Boolean',
  'Integer',
  'Decimal',
  'Float',
  'Date',
  'Time',
  'DateTime',
  'DateTimeTz',
  'String',
] as const;
export type FrameDatatype = (typeof frameDatatypes)[number];

const integer = /^-?(?:0|[1-9]\d{0,17})$/;
const decimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const float = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const date = /^\d{4}-\d\d-\d\d$/;
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,6})?)?';
const time = new RegExp(`^${clock}$`);
const dateTime = new RegExp(`^(\\d{4}-\\d\\d-\\d\\d)[T ]${clock}$`);
const dateTimeTz = new RegExp(`^(\\d{4}-\\d\\d-\\d\\d)[T ]${clock}(?:Z|[+-](?:0\\d|1[0-4])(?::?[0-5]\\d)?)$`);

/** DuckDB holds at most this many digits in a DECIMAL. */
export const maxDecimalDigits = 38;

const daysOf = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isDay = (text: string): boolean => {
  if (!date.test(text)) return false;
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = month === 2 && !leap ? 28 : daysOf[month - 1];
  return year >= 1 && last !== undefined && day >= 1 && day <= last;
};

/** Returns whether the text is a value of the datatype as inference reads it. */
export const fits: Record<FrameDatatype, (text: string) => boolean> = {
  Boolean: (text) => text.length < 6 && /^(?:true|false)$/i.test(text),
  Integer: (text) => text.length < 20 && integer.test(text),
  Decimal: (text) =>
    decimal.test(text) &&
    text.length - (text.includes('.') ? 1 : 0) - (text.startsWith('-') ? 1 : 0) <= maxDecimalDigits,
  Float: (text) => float.test(text) && Number.isFinite(Number(text)),
  Date: (text) => text.length === 10 && isDay(text),
  Time: (text) => time.test(text),
  DateTime: (text) => text.length > 10 && text.length < 40 && isDay(dateTime.exec(text)?.[1] ?? ''),
  DateTimeTz: (text) => text.length > 10 && text.length < 40 && isDay(dateTimeTz.exec(text)?.[1] ?? ''),
  String: () => true,
};

/** Text that people read as a number or a date, and that can be read in two ways or loses something. */
export const isAmbiguous = (text: string): boolean =>
  text.length < 40 &&
  (/^-?0\d+$/.test(text) ||
    /^\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}$/.test(text) ||
    /^-?\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d+)?$/.test(text) ||
    /^-?\d+,\d+$/.test(text));
