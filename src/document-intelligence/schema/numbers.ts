/**
 * Numbers as people write them. A number is compared by its canonical text: digits without leading zeros, `.` and
 * digits without zeros at the end, `-` in front.
 */

/** Currencies that are written in letters, in small letters. Their signs are recognised by their Unicode category. */
const currencyCodes =
  'eur|usd|gbp|chf|jpy|cny|cad|aud|nzd|sek|nok|dkk|pln|czk|huf|ron|bgn|try|inr|brl|mxn|zar|sgd|hkd|krw|ils|aed|sar|rub|uah|thb|idr|myr|php|vnd|isk';
const currency = `(?:\\p{Sc}|us\\$|a\\$|c\\$|(?:${currencyCodes}|kč|kr|zł|lei|fr|rs|rm)\\.?)`;
const currencyBefore = new RegExp(`^${currency} ?`, 'u');
const currencyAfter = new RegExp(` ?${currency}$`, 'u');

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** The forms of a number without sign and currency: what divides its groups, and its decimal sign. */
const forms: readonly { form: RegExp; groups: RegExp | null; decimal: '.' | ',' }[] = [
  { form: /^\d+(?:\.\d+)?$/, groups: null, decimal: '.' },
  { form: /^\d+,\d+$/, groups: null, decimal: ',' },
  { form: /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/, groups: /,/g, decimal: '.' },
  { form: /^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/, groups: /\./g, decimal: ',' },
  { form: /^\d{1,3}(?:['’]\d{3})+(?:\.\d+)?$/, groups: /['’]/g, decimal: '.' },
  { form: /^\d{1,3}(?:['’]\d{3})+,\d+$/, groups: /['’]/g, decimal: ',' },
  { form: /^\d{1,3}(?: \d{3})+(?:\.\d+)?$/, groups: / /g, decimal: '.' },
  { form: /^\d{1,3}(?: \d{3})+,\d+$/, groups: / /g, decimal: ',' },
];

/** A decimal text such as `007.50` in canonical form: `7.5`. */
const canonical = (digits: string, negative: boolean): string => {
  const [whole = '', fraction = ''] = digits.split('.');
  const short = fraction.replace(/(?<!0)0+$/, '');
  const text = (whole.replace(/^0+(?=\d)/, '') || '0') + (short === '' ? '' : `.${short}`);
  return negative && text !== '0' ? `-${text}` : text;
};

/** The numbers that digits with separators can be: none, one, or two as with `1,234`. In canonical form. */
export const readingsOf = (digits: string, negative = false): string[] => {
  const readings = new Set<string>();
  for (const { form, groups, decimal } of forms) {
    if (!form.test(digits)) continue;
    const plain = groups === null ? digits : digits.replace(groups, '');
    readings.add(canonical(decimal === ',' ? plain.replace(',', '.') : plain, negative));
  }
  return [...readings];
};

/** Takes the currency off a text that has been normalised (`normalise`): `eur 5`, `5 €`. */
export const withoutCurrency = (text: string): string =>
  text.replace(currencyBefore, '').replace(currencyAfter, '');

/** The longest text that is read as a number. */
const longestNumber = 400;

/**
 * The numbers that a whole text can be, in canonical form: `1.234,56 €`, `(12.50)`, `12.50-`. A text that is a number of
 * JSON is that number alone.
 */
export const numbersIn = (text: string): string[] => {
  if (text.length > longestNumber) return [];
  let rest = text.normalize('NFKC').trim().replace(/\s+/gu, ' ').toLowerCase().replaceAll('−', '-');
  if (/^-?(?:0|[1-9]\d*)$/.test(rest)) return [canonical(rest.replace('-', ''), rest.startsWith('-'))];
  if (jsonNumber.test(rest)) return [canonicalOf(Number(rest)) ?? ''].filter((found) => found !== '');
  let negative = false;
  const sign = (form: RegExp): void => {
    const [, inside] = form.exec(rest) ?? [];
    if (inside === undefined || negative) return;
    negative = true;
    rest = inside.trim();
  };
  sign(/^\((.*)\)$/);
  sign(/^-(.*)$/);
  rest = withoutCurrency(rest).trim();
  sign(/^-(.*)$/);
  sign(/^(.*)-$/);
  return readingsOf(rest.replace(/^\+/, ''), negative);
};

/** A number in canonical form; null for one that is not finite. */
export const canonicalOf = (value: number | bigint): string | null => {
  if (typeof value === 'bigint') return String(value);
  if (!Number.isFinite(value)) return null;
  const [, sign, whole = '', fraction = '', exponent] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  const shift = Number(exponent ?? 0);
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0');
  const at = Math.max(point, 1);
  return canonical(`${padded.slice(0, at)}.${padded.slice(at)}`, sign === '-');
};
