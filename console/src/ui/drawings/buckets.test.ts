import { expect, test } from 'vitest';
import { type BandBucket, countsOf, drawnWidth, mergeBuckets, middleOf } from './buckets.ts';
import { durationTicks } from './scale.ts';
import { nightsBetween, offsetAt, ticksBetween } from './zone-time.ts';

const hour = 3_600_000;
const at = (time: string) => Date.parse(time);
const bucket = (from: number, counts: BandBucket['counts']): BandBucket => ({ from, to: from + 1, counts });

test('buckets that would be drawn over each other are one, and nothing is lost', () => {
  const many = Array.from({ length: 300 }, (_, index) => bucket(index, { 'on-time': 1 }));
  const merged = mergeBuckets(many, 1_000, (time) => time);
  expect(merged.length).toBeLessThan(30);
  expect(merged.reduce((sum, { counts }) => sum + counts['on-time']!, 0)).toBe(300);
  for (const [index, next] of merged.slice(1).entries()) {
    const before = merged[index]!;
    const gap = (next.from + next.to) / 2 - (before.from + before.to) / 2;
    expect(gap).toBeGreaterThanOrEqual((drawnWidth(before) + drawnWidth(next)) / 2);
  }
});

test('past and future stay apart, and the worst comes first', () => {
  const merged = mergeBuckets(
    [bucket(9, { 'on-time': 2, missing: 1 }), bucket(10, { due: 3 })],
    10,
    (time) => time,
  );
  expect(merged.map((each) => countsOf(each).map(({ kind }) => kind))).toEqual([
    ['missing', 'on-time'],
    ['due'],
  ]);
});

test('the link of what has just happened ends with its bucket, which was counted as a whole', () => {
  const href = (from: number, to: number) => `${from} ${to}`;
  const buckets = [bucket(8, { 'on-time': 1 }), { from: 9, to: 19, counts: { 'on-time': 1, due: 2 } }];
  const [past] = mergeBuckets(
    buckets.map((each) => ({ ...each, href })),
    12,
    (time) => time,
  );
  expect([past!.to, past!.href!(past!.from, past!.ends ?? past!.to)]).toEqual([12, '8 19']);
});

test('nights and hours are those of the zone, also when its clock changes', () => {
  const from = at('2026-10-24T22:00:00Z');
  expect([offsetAt(from, 'Europe/Berlin') / hour, offsetAt(from + 8 * hour, 'Europe/Berlin') / hour]).toEqual(
    [2, 1],
  );
  const nights = nightsBetween(from, from + 25 * hour, 'Europe/Berlin');
  expect(nights.map((night) => (night.to - night.from) / hour)).toEqual([7, 4]);
  const ticks = ticksBetween(from, from + 25 * hour, 'Europe/Berlin', 6 * hour);
  expect(ticks.map((tick) => new Date(tick.at).toISOString().slice(11, 16))).toEqual([
    '22:00',
    '05:00',
    '11:00',
    '17:00',
    '23:00',
  ]);
  expect(ticks.map((tick) => tick.midnight)).toEqual([true, false, false, false, true]);
});

test('an axis of durations has at most five steps at round values', () => {
  expect(durationTicks(240_000).map((tick) => tick.label)).toEqual([
    '0 s',
    '1 min',
    '2 min',
    '3 min',
    '4 min',
  ]);
  expect(durationTicks(0.9).length).toBeLessThanOrEqual(6);
  expect(durationTicks(40 * 86_400_000).length).toBeLessThanOrEqual(6);
});

test('what is due in the present bucket is drawn behind the line of now, and nothing over it', () => {
  const present = { from: 90, to: 110, counts: { 'on-time': 14, due: 10 } };
  const merged = mergeBuckets([present, { from: 110, to: 130, counts: { due: 72 } }], 100, (at) => at);
  expect(merged.map(({ from, to, counts }) => ({ from, to, counts }))).toEqual([
    { from: 90, to: 100, counts: { 'on-time': 14 } },
    { from: 100, to: 130, counts: { due: 82 } },
  ]);
  const edges = merged.map((bucket) => {
    const middle = middleOf(bucket, 100, (at) => at);
    return [middle - drawnWidth(bucket) / 2, middle + drawnWidth(bucket) / 2];
  });
  expect(edges[0]![1]).toBeLessThan(100);
  expect(edges[1]![0]).toBeGreaterThan(100);
});
