import { useClock } from '../../../time/index.ts';
import type { SchedulesSearch } from '../search.ts';

const hour = 3_600_000;

export const spans = {
  '1h': hour,
  '6h': 6 * hour,
  '1d': 24 * hour,
  '3d': 72 * hour,
  '7d': 168 * hour,
  '14d': 336 * hour,
} as const;
export type SpanName = keyof typeof spans;
export const spanNames = Object.keys(spans) as SpanName[];

export const bucketCount = 120;
const most = 31 * 24 * hour;

export interface Span {
  from: number;
  to: number;
  /** It goes along with the time: now is in the middle. */
  follows: boolean;
}

const read = (time: string | undefined): number | null => {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? null : at;
};

/** The span of an address: its two moments, one of them and the span, or the span around now. */
const readSpan = (search: SchedulesSearch, now: number): Span => {
  const length = spans[search.span ?? '1d'];
  const from = read(search.from);
  const to = read(search.to);
  if (from !== null && to !== null && to > from) {
    return { from, to: Math.min(to, from + most), follows: false };
  }
  if (from !== null) return { from, to: from + length, follows: false };
  if (to !== null) return { from: to - length, to, follows: false };
  return { from: now - length / 2, to: now + length / 2, follows: true };
};

/** The span that the page shows. One that goes along moves by whole parts, so that it asks for the same one for a while. */
export const useSpan = (search: SchedulesSearch): Span => {
  const step = spans[search.span ?? '1d'] / bucketCount;
  const now = useClock((at) => Math.floor(at / step) * step);
  return readSpan(search, now);
};

/** The name of the span with this length; undefined if it is another one. */
export const spanNameOf = ({ from, to }: Span): SpanName | undefined =>
  spanNames.find((name) => spans[name] === to - from);

export const paramsOf = (from: number, to: number) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
});
