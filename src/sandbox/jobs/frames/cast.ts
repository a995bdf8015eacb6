import { type FrameDatatype, fits } from './datatypes.ts';

/**
 * Casts of the datatypes that a person asks for: the texts that each takes besides its own values. Inference is
 * careful, because a wrong guess loses something; a person who names a datatype wants a cast: zeros in front, a plus
 * sign and blanks around do not matter.
 */

const booleans: Record<string, string> = {
  true: 'true',
  t: 'true',
  yes: 'true',
  y: 'true',
  on: 'true',
  '1': 'true',
  false: 'false',
  f: 'false',
  no: 'false',
  n: 'false',
  off: 'false',
  '0': 'false',
};

const number = /^([+-]?)(?:0*(\d+))?(?:\.(\d*))?$/;
const bigintMax = 2n ** 63n;

/** A number without zeros in front and a plus sign, `-42.50`; null if the text is none. */
const plainNumber = (text: string): { sign: string; whole: string; fraction: string } | null => {
  const [, sign, whole, fraction] = number.exec(text) ?? [];
  if (sign === undefined || (whole === undefined && !fraction)) return null;
  return { sign: sign === '-' ? '-' : '', whole: whole ?? '0', fraction: fraction ?? '' };
};

const castInteger = (text: string): string | null => {
  const plain = plainNumber(text);
  if (!plain || /[^0]/.test(plain.fraction) || plain.whole.length > 19) return null;
  const value = BigInt(`${plain.sign}${plain.whole}`);
  return value >= -bigintMax && value < bigintMax ? String(value) : null;
};

const castDecimal = (text: string): string | null => {
  const plain = plainNumber(text);
  if (!plain) return null;
  return `${plain.sign}${plain.whole}${plain.fraction === '' ? '' : `.${plain.fraction}`}`;
};

const midnight = /^(.{10})[T ]00:00(?::00(?:\.0{1,6})?)?$/;

/** The text as a value of the datatype, in the form that inference reads; null if it cannot be one. */
export const castText = (datatype: FrameDatatype, given: string): string | null => {
  if (datatype === 'String' || fits[datatype](given)) return given;
  // The longest number of a cast: zeros in front may be many, but a text of a megabyte is no number.
  if (given.length > 400) return null;
  const text = given.trim();
  switch (datatype) {
    case 'Boolean':
      return Object.hasOwn(booleans, text.toLowerCase()) ? booleans[text.toLowerCase()]! : null;
    case 'Integer':
      return castInteger(text);
    case 'Decimal':
      return castDecimal(text);
    case 'Float': {
      const plain = text.replace(/^\+/, '');
      return fits.Float(plain) ? plain : null;
    }
    case 'Date': {
      const day = midnight.exec(text)?.[1] ?? text;
      return fits.Date(day) ? day : null;
    }
    case 'DateTime':
      return fits.DateTime(text) || fits.Date(text) ? text : null;
    default:
      return fits[datatype](text) ? text : null;
  }
};
