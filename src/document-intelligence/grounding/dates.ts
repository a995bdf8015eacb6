import { maxPlaces, type Span } from './automaton.ts';

const english = 'january|february|march|april|may|june|july|august|september|october|november|december'.split(
  '|',
);
const german = 'januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember'.split(
  '|',
);
const short: Record<string, number> = { mrz: 3, sept: 9, okt: 10, dez: 12, mär: 3, jän: 1, jänner: 1 };

/** Months from 1, by their names in small letters: long, and the first three letters. */
const months = new Map<string, number>([
  ...[english, german].flatMap((names) =>
    names.flatMap((name, i): [string, number][] => [
      [name, i + 1],
      [name.slice(0, 3), i + 1],
    ]),
  ),
  ...Object.entries(short),
]);
// The longest first: `sept` is not `sep` and a `t`.
const month = `(?:${[...months.keys()].sort((a, b) => b.length - a.length).join('|')})`;

/** The twelve layouts, in normalised text. Nothing in them repeats without bound. */
const layouts = [
  // YYYY-MM-DD, YYYY/MM/DD, YYYY.MM.DD
  String.raw`(?<y1>\d{4})(?<s1>[-/.])(?<m1>\d{1,2})\k<s1>(?<d1>\d{1,2})`,
  // YYYYMMDD
  String.raw`(?<y2>\d{4})(?<m2>\d{2})(?<d2>\d{2})`,
  // DD.MM.YYYY, DD/MM/YYYY, MM/DD/YYYY, DD-MM-YYYY
  String.raw`(?<d3>\d{1,2})(?<s3>[-/.])(?<m3>\d{1,2})\k<s3>(?<y3>\d{4})`,
  // D.M.YY
  String.raw`(?<d4>\d{1,2})\.(?<m4>\d{1,2})\.(?<y4>\d{2})`,
  // D Month YYYY
  String.raw`(?<d5>\d{1,2})\.? ?(?<n5>${month})\.?,? ?(?<y5>\d{4})`,
  // Month D, YYYY
  String.raw`(?<n6>${month})\.? ?(?<d6>\d{1,2})(?:, ?| )(?<y6>\d{4})`,
  // DD-Mon-YYYY
  String.raw`(?<d7>\d{1,2})-(?<n7>${month})\.?-(?<y7>\d{4})`,
];
const whole = String.raw`(?<![\p{L}\p{M}\p{N}])(?<!\d[./-])(?:${layouts.join('|')})(?![\p{L}\p{M}\p{N}])(?![./-]\d)`;
const wholeDay = new RegExp(whole, 'gu');
/** The longest match, `30. september, 2026`, with what is looked at around it. */
const reach = 40;
const step = 50_000;

const iso = (year: number, monthOfYear: number, day: number): string[] => {
  const date = new Date(0);
  date.setUTCFullYear(year, monthOfYear - 1, day);
  const exists = date.getUTCMonth() === monthOfYear - 1 && date.getUTCDate() === day && year > 0;
  return exists ? [date.toISOString().slice(0, 10)] : [];
};

/** The days that a match can be, as `YYYY-MM-DD`: two for `03/04/2026`, and two centuries for `3.4.26`. */
const daysOf = (groups: Record<string, string | undefined>): string[] => {
  const number = (name: string): number => Number(groups[name]);
  if (groups.y1) return iso(number('y1'), number('m1'), number('d1'));
  if (groups.y2) return iso(number('y2'), number('m2'), number('d2'));
  if (groups.y3) {
    const days = iso(number('y3'), number('m3'), number('d3'));
    const other = groups.s3 === '/' ? iso(number('y3'), number('d3'), number('m3')) : [];
    return [...new Set([...days, ...other])];
  }
  if (groups.y4)
    return [2000, 1900].flatMap((century) => iso(century + number('y4'), number('m4'), number('d4')));
  for (const i of [5, 6, 7]) {
    const name = groups[`n${i}`];
    if (name) return iso(number(`y${i}`), months.get(name)!, number(`d${i}`));
  }
  return [];
};

/** The day that a whole normalised text is, as `YYYY-MM-DD`; null if it is none or can be two. */
export const dayOf = (normalised: string): string | null => {
  if (normalised.length > reach) return null;
  const [found] = normalised.matchAll(wholeDay);
  if (found?.[0] !== normalised) return null;
  const days = daysOf(found.groups!);
  return days.length === 1 ? days[0]! : null;
};

/** Finds days in normalised text. */
export class DateSearch {
  readonly #wanted = new Map<string, Span[]>();

  /** `day` as `YYYY-MM-DD`. The places, positions in the normalised text, are filled in by `search`. */
  add(day: string): Span[] {
    const spans = this.#wanted.get(day) ?? [];
    this.#wanted.set(day, spans);
    return spans;
  }

  get isEmpty(): boolean {
    return this.#wanted.size === 0;
  }

  /** Searches `text` from one position to another. */
  async search(text: string, from: number, until: number, pause: () => Promise<void>): Promise<void> {
    const pattern = new RegExp(whole, 'gu');
    let next = from;
    for (let start = from; start < until; start += step) {
      const begin = Math.max(from, start - reach);
      const part = text.slice(begin, Math.min(until, start + step + reach));
      pattern.lastIndex = next - begin;
      for (let found = pattern.exec(part); found; found = pattern.exec(part)) {
        const at = begin + found.index;
        if (at >= start + step) break;
        next = at + found[0].length;
        for (const day of daysOf(found.groups!)) {
          const spans = this.#wanted.get(day);
          if (spans && spans.length < maxPlaces) spans.push({ start: at, end: next });
        }
      }
      next = Math.max(next, Math.min(start + step, until));
      await pause();
    }
  }
}
