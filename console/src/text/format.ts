/** The language of all texts. Dates are day, month, year, and hours run from 0 to 23. */
export const locale = 'en-GB';

const thousandths = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });
const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const percents = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const rules = new Intl.PluralRules(locale);
const lists = new Intl.ListFormat(locale, { type: 'conjunction' });

/** `1,418`. */
export const number = (value: number): string => numbers.format(value);

const cents = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const parts = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumSignificantDigits: 2 });

/** `$1,204.50` of nano-USD; below a cent with two digits that count: `$0.00017`. */
export const usd = (nano: number): string => {
  const dollars = nano / 1e9;
  return `$${(dollars === 0 || dollars >= 0.01 ? cents : parts).format(dollars)}`;
};

/** `99.2 %` of a share between 0 and 1. */
export const percent = (share: number): string => `${percents.format(share * 100)} %`;

/** `p = 0.031`; of less than a thousandth `p < 0.001`. */
export const probability = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${thousandths.format(p)}`);

/** `a, b and c`. */
export const list = (items: readonly string[]): string => lists.format(items);

/** `plural(3, { one: '# schedule', other: '# schedules' })` is `3 schedules`. */
export const plural = (count: number, forms: { one: string; other: string }): string =>
  (rules.select(count) === 'one' ? forms.one : forms.other).replace('#', number(count));

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `1.5 MB`. */
export const bytes = (count: number): string => {
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < byteUnits.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${compact.format(value)} ${byteUnits[unit]}`;
};

/** Joins the two largest units of a duration: `3 h 12 min`, `11 d 4 h`, `41 s`, `0.3 s`, `27 ms`. */
export const duration = (milliseconds: number): string => {
  const ms = Math.round(Math.abs(milliseconds));
  if (ms > 0 && ms < 95) return `${ms} ms`;
  const seconds = Math.abs(milliseconds) / 1000;
  if (seconds < 9.95) return `${compact.format(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const pairs: [number, string, number, string][] = [
    [86_400, 'd', 3_600, 'h'],
    [3_600, 'h', 60, 'min'],
    [60, 'min', 1, 's'],
  ];
  for (const [size, unit, smaller, smallerUnit] of pairs) {
    if (whole < size) continue;
    const rest = Math.floor((whole % size) / smaller);
    const head = `${number(Math.floor(whole / size))} ${unit}`;
    return rest === 0 ? head : `${head} ${rest} ${smallerUnit}`;
  }
  return `${whole} s`;
};
