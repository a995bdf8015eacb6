import { describe, expect, it } from 'vitest';
import { calendarOracle, clockOracle, type Found, intlClock, matches, sample } from '../tests/oracles.ts';
import { int, pick, type Random, seeded } from '../tests/random.ts';
import { parseCron } from './cron.ts';
import { Occurrences } from './occurrences.ts';
import type { Segment } from './timeline.ts';
import { openZone, Zone } from './zones.ts';

// Compares the engine with two slow definitions of an occurrence, each written in its own way: one walks
// real time and reads a clock (Intl), one walks the calendar and computes the instants of each local time (Temporal).
// Here each zone with a peculiarity has a sample, which SMALL_SAMPLES makes smaller. `npm run test:faults` sets
// CRON_ORACLE=long: every zone, with a larger sample of each, in about ten minutes.

const long = process.env.CRON_ORACLE === 'long';
const size = (small: number, usual: number, most: number): number =>
  long ? most : process.env.SMALL_SAMPLES ? small : usual;
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Compares all results of the engine between `from` and `to` with what an oracle found. */
const compare = (random: Random, name: string, engine: Occurrences, all: Found, from: number, to: number) => {
  const expected = [...all.keys()].filter((at) => at > from && at <= to).sort((a, b) => a - b);
  const actual: number[] = [];
  for (let at = engine.next(from); at !== null && at <= to; at = engine.next(at)) actual.push(at);
  const show = (list: number[]) => list.map((at) => new Date(at).toISOString());
  if (actual.length !== expected.length || actual.some((at, k) => at !== expected[k])) {
    expect({ name, next: show(actual) }).toEqual({ name, next: show(expected) });
  }
  const back: number[] = [];
  for (let at = engine.previous(to); at !== null && at > from; at = engine.previous(at - 1)) back.push(at);
  if (back.length !== expected.length || back.some((at, k) => at !== expected[expected.length - 1 - k])) {
    expect({ name, previous: show(back.reverse()) }).toEqual({ name, previous: show(expected) });
  }
  for (let k = 0; k < 12; k++) {
    const edge = () =>
      expected.length > 0 && random() < 0.5
        ? pick(random, expected) + int(random, -1, 1)
        : int(random, from, to);
    const [a, b] = [edge(), edge()].map((at) => Math.min(Math.max(at, from), to)).sort((x, y) => x - y) as [
      number,
      number,
    ];
    const count = expected.filter((at) => at > a && at <= b).length;
    expect([name, a, b, engine.countBetween(a, b)]).toEqual([name, a, b, count]);
    const next = expected.find((at) => at > a);
    if (next !== undefined) expect([name, a, engine.next(a)]).toEqual([name, a, next]);
    const previous = expected.findLast((at) => at <= b);
    if (previous !== undefined) expect([name, b, engine.previous(b)]).toEqual([name, b, previous]);
  }
  const explained =
    expected.length > 60 ? expected.filter((at) => all.get(at)!.dst || random() < 0.02) : expected;
  for (const at of explained) {
    const { local, dst } = all.get(at)!;
    const explanation = engine.explain(at);
    if (
      explanation.dst !== dst ||
      !explanation.local.startsWith(new Date(local).toISOString().slice(0, 19))
    ) {
      expect({ name, at: show([at]), ...explanation }).toEqual({
        name,
        at: show([at]),
        local: new Date(local).toISOString(),
        dst,
      });
    }
  }
  return expected.length;
};

const nearTo = (local: number): number[][] => {
  const around = [-26, -25, -24, -3, -2, -1, 0, 1, 2, 3, 23, 24].map((h) => new Date(local + h * hour));
  return [
    [0, 1, 15, 29, 30, 31, 32, 44, 45, 59],
    around.map((d) => d.getUTCHours()),
    around.map((d) => d.getUTCDate()),
    around.map((d) => d.getUTCMonth() + 1),
    around.map((d) => d.getUTCDay()),
  ];
};

const zones = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'Europe/Dublin',
  'Europe/Lisbon',
  'Europe/Moscow',
  'Europe/Simferopol',
  'America/New_York',
  'America/St_Johns',
  'America/Sao_Paulo',
  'America/Santiago',
  'America/Caracas',
  'America/Scoresbysund',
  'America/Goose_Bay',
  'America/Montevideo',
  'America/Guyana',
  'America/Juneau',
  'Africa/Casablanca',
  'Africa/Cairo',
  'Africa/Monrovia',
  'Asia/Hebron',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Pyongyang',
  'Asia/Tehran',
  'Asia/Ust-Nera',
  'Asia/Gaza',
  'Australia/Lord_Howe',
  'Australia/Adelaide',
  'Antarctica/Troll',
  'Antarctica/Casey',
  'Antarctica/Vostok',
  'Pacific/Apia',
  'Pacific/Kwajalein',
  'Pacific/Kiritimati',
  'Pacific/Chatham',
  'Pacific/Norfolk',
];

/** Instants to test around: the greatest transitions and a few others, or any instant if there is none. */
const placesOf = (random: Random, zone: Zone): number[] => {
  const { segments } = zone;
  const jumps = segments
    .slice(1)
    .map((each, k) => ({ at: each.start, size: each.offset - segments[k]!.offset }));
  const inside = jumps.filter(({ at }) => at > Date.UTC(1969, 0, 6) && at < Date.UTC(2100, 11, 25));
  if (inside.length === 0) return [int(random, Date.UTC(1970, 0, 1), Date.UTC(2100, 0, 1))];
  const greatest = inside.toSorted((a, b) => Math.abs(b.size) - Math.abs(a.size)).slice(0, size(1, 1, 3));
  const others = Array.from({ length: size(0, 1, 4) }, () => pick(random, inside));
  return [...new Set([...greatest, ...others].map(({ at }) => at))];
};

describe('occurrences agree with brute force', () => {
  for (const [k, name] of (long
    ? [...new Set([...zones, ...Intl.supportedValuesOf('timeZone')])]
    : zones
  ).entries()) {
    it(`around the transitions of ${name}`, { timeout: long ? 600_000 : 30_000 }, () => {
      const random = seeded(k + 1);
      const zone = openZone(name);
      const clock = intlClock(name);
      for (const place of placesOf(random, zone)) {
        const centre = Math.floor(place / minute) * minute;
        // A day that repeats must lie entirely within what the clock oracle reads.
        const [from, to] = [centre - 26 * hour, centre + 26 * hour];
        const first = clockOracle(
          clock,
          from - 26 * hour,
          to + 4 * hour,
          name === 'Africa/Monrovia' ? minute / 2 : minute,
        );
        const local = centre + zone.offsetAt(centre);
        const roundLocal = Math.floor(local / minute) * minute;
        const second = calendarOracle(name, roundLocal - 52 * hour, roundLocal + 52 * hour);
        for (let n = 0; n < size(3, 6, 40); n++) {
          const expression = sample(random, nearTo(local));
          const engine = new Occurrences(parseCron(expression.text), zone);
          const label = `${expression.text} in ${name}`;
          compare(random, label, engine, first(expression), from, to);
          compare(random, label, engine, second(expression), from, to);
        }
      }
    });
  }

  it('in made-up zones with jumps close together and chained overlaps', {
    timeout: long ? 600_000 : 30_000,
  }, () => {
    const random = seeded(99);
    for (let z = 0; z < size(2, 8, 1_000); z++) {
      const origin = Date.UTC(int(random, 1970, 2099), int(random, 0, 11), int(random, 1, 28));
      const cuts = Array.from(
        { length: int(random, 1, 5) },
        () => origin + int(random, 0, 100) * 15 * minute,
      );
      const starts = [origin - 10 * day, ...new Set(cuts.sort((a, b) => a - b))];
      const segments: Segment[] = starts.map((start, n) => ({
        start,
        end: starts[n + 1] ?? origin + 10 * day,
        offset: int(random, -8, 8) * pick(random, [15, 30, 60]) * minute,
      }));
      const zone = new Zone('Test/Zone', segments);
      const oracle = clockOracle((at) => at + zone.offsetAt(at), origin - 3 * day, origin + 5 * day, minute);
      for (let n = 0; n < 15; n++) {
        const expression = sample(random, nearTo(origin + 12 * hour));
        const engine = new Occurrences(parseCron(expression.text), zone);
        compare(
          random,
          `${expression.text} in ${JSON.stringify(segments)}`,
          engine,
          oracle(expression),
          origin - day,
          origin + 3 * day,
        );
      }
    }
  });

  it('day by day over whole decades of the calendar', { timeout: long ? 600_000 : 30_000 }, () => {
    const random = seeded(7);
    const zone = openZone('UTC');
    for (let n = 0; n < size(2, 10, 1_000); n++) {
      const expression = sample(random, [[], [], [28, 29, 30, 31], [2], []]);
      const engine = new Occurrences(parseCron(expression.text), zone);
      const { sets } = expression;
      const perDay = sets[0]!.size * sets[1]!.size;
      const firstMinute = Math.min(...sets[1]!) * hour + Math.min(...sets[0]!) * minute;
      const lastMinute = Math.max(...sets[1]!) * hour + Math.max(...sets[0]!) * minute;
      const days: number[] = [];
      for (let start = Date.UTC(1969, 0, 1); start < Date.UTC(2101, 0, 1); start += day) {
        if (matches(expression, start + firstMinute)) days.push(start);
      }
      for (let k = 0; k < 40; k++) {
        const at =
          Date.UTC(int(random, 1960, 2110), int(random, 0, 11), int(random, 1, 31)) - int(random, 0, 1);
        const until = Date.UTC(int(random, 1960, 2110), int(random, 0, 11), int(random, 1, 31)) - 1;
        const later = days.find((start) => start > at);
        const earlier = days.findLast((start) => start + day <= at + 1);
        const label = `${expression.text} ${new Date(at).toISOString()}`;
        // `at` is the last millisecond of a day or midnight, which may itself be an occurrence.
        const midnight = at % day === 0;
        if (!midnight) {
          expect([label, engine.next(at)]).toEqual([label, later === undefined ? null : later + firstMinute]);
          expect([label, engine.previous(at)]).toEqual([
            label,
            earlier === undefined ? null : earlier + lastMinute,
          ]);
          const between = days.filter((start) => start > at && start < until).length * perDay;
          expect([label, until, engine.countBetween(at, until)]).toEqual([label, until, between]);
        }
      }
    }
  });
});
