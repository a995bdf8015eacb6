import { describe, expect, it } from 'vitest';
import { CronError, parseCron } from './cron.ts';
import { compileSchedule, Occurrences } from './occurrences.ts';
import { Zone, ZoneError } from './zones.ts';

const minute = 60_000;
const hour = 60 * minute;

/** The occurrences after `from` up to and including `to`, in the zone's local time, each with its `dst`. */
const listed = (schedule: Occurrences, from: string, to: string): string[] => {
  const rows: string[] = [];
  const end = Date.parse(to);
  for (let at = schedule.next(Date.parse(from)); at !== null && at <= end; at = schedule.next(at)) {
    const { local, dst } = schedule.explain(at);
    expect(Date.parse(local)).toBe(at);
    rows.push(dst ? `${local} ${dst}` : local);
  }
  expect(schedule.countBetween(Date.parse(from), end)).toBe(rows.length);
  return rows;
};
const inZone = (expression: string, zone: string, from: string, to: string) =>
  listed(compileSchedule(expression, zone), from, to);

describe('a schedule at fixed local times', () => {
  it('fires once for the times that a spring night skips, at the first instant after them', () => {
    expect(inZone('*/30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', '2026-03-30T12:00Z')).toEqual([
      '2026-03-29T03:00:00+02:00 gap',
      '2026-03-30T02:00:00+02:00',
      '2026-03-30T02:30:00+02:00',
    ]);
  });

  it('fires once when a skipped time and a real time fall on the same instant', () => {
    expect(inZone('0 2,3 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-29T12:00Z')).toEqual([
      '2026-03-29T03:00:00+02:00 gap',
    ]);
    expect(inZone('0 3 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-29T12:00Z')).toEqual([
      '2026-03-29T03:00:00+02:00',
    ]);
  });

  it('fires the first time that a repeated hour is shown', () => {
    expect(inZone('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', '2026-10-26T00:00Z')).toEqual([
      '2026-10-25T02:30:00+02:00 overlap',
    ]);
  });

  it('loses no occurrence at Lord Howe, where the clock moves by half an hour', () => {
    expect(inZone('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', '2026-10-05T00:00Z')).toEqual([
      '2026-10-04T02:30:00+11:00 gap',
      '2026-10-05T02:15:00+11:00',
    ]);
    expect(inZone('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', '2026-04-05T12:00Z')).toEqual([
      '2026-04-05T01:45:00+11:00 overlap',
    ]);
  });

  it('does not fire on a day that the zone left out', () => {
    expect(inZone('0 9 * * *', 'Pacific/Apia', '2011-12-29T00:00Z', '2011-12-31T12:00Z')).toEqual([
      '2011-12-29T09:00:00-10:00',
      '2011-12-31T09:00:00+14:00',
    ]);
  });

  it('fires once on a day that the zone repeated', () => {
    expect(inZone('0 9 * * *', 'Pacific/Kwajalein', '1969-09-29T12:00Z', '1969-10-02T12:00Z')).toEqual([
      '1969-09-30T09:00:00+11:00 overlap',
      '1969-10-01T09:00:00-12:00',
    ]);
  });

  it('fires for times that a jump of exactly three hours skips', () => {
    expect(inZone('0 1 1 4 *', 'Asia/Ust-Nera', '1981-03-31T00:00Z', '1981-04-02T00:00Z')).toEqual([
      '1981-04-01T03:00:00+12:00 gap',
    ]);
  });
});

describe('a schedule that follows real time', () => {
  it('fires in both passes of a repeated hour', () => {
    expect(inZone('30 * * * *', 'Europe/Berlin', '2026-10-24T23:59Z', '2026-10-25T03:00Z')).toEqual([
      '2026-10-25T02:30:00+02:00 overlap',
      '2026-10-25T02:30:00+01:00 overlap',
      '2026-10-25T03:30:00+01:00',
    ]);
  });

  it('does not fire in a skipped hour', () => {
    expect(inZone('30 * * * *', 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-29T02:00Z')).toEqual([
      '2026-03-29T01:30:00+01:00',
      '2026-03-29T03:30:00+02:00',
    ]);
  });

  it('is one whose hour field covers all 24 hours, however it is written', () => {
    for (const hours of ['*', '*/1', '0-23', '0-11,12-23', '*,5']) {
      expect(compileSchedule(`0 ${hours} * * *`, 'UTC').kind).toBe('elapsed');
    }
    expect(compileSchedule('0 0-22 * * *', 'UTC').kind).toBe('fixed');
  });
});

describe('jumps that no zone has had yet', () => {
  const at = (hours: number) => Date.UTC(2030, 0, 10) + hours * hour;
  const zone = (...cuts: [hours: number, offset: number][]) =>
    new Zone(
      'Test/Zone',
      [[-240, 0] as [number, number], ...cuts].map(([hours, offset], k) => ({
        start: at(hours),
        end: at(cuts[k]?.[0] ?? 240),
        offset: offset * hour,
      })),
    );
  const fired = (expression: string, where: Zone) =>
    listed(new Occurrences(parseCron(expression), where), '2030-01-10T00:00:00Z', '2030-01-10T12:00:00Z');

  it('a time skipped first and shown later fires when it is shown', () => {
    // 02:00 → 03:00, and twenty minutes later 03:20 → 02:20.
    const chained = zone([2, 1], [2 + 1 / 3, 0]);
    expect(fired('30 2 * * *', chained)).toEqual(['2030-01-10T02:30:00+00:00']);
    expect(fired('10 2 * * *', chained)).toEqual(['2030-01-10T03:00:00+01:00 gap']);
  });

  it('the two ends of a gap whose middle is shown later fire together, once', () => {
    // 02:00 → 05:00; after half an hour 05:30 → 03:00; after half an hour more 03:30 → 06:00.
    const holed = zone([2, 3], [2.5, 0.5], [3, 3]);
    expect(fired('5,55 2,4 * * *', holed)).toEqual(['2030-01-10T05:00:00+03:00 gap']);
    expect(fired('15 2-4 * * *', holed)).toEqual([
      '2030-01-10T05:00:00+03:00 gap',
      '2030-01-10T03:15:00+00:30',
    ]);
  });

  it('a time skipped twice fires at the first of the two jumps', () => {
    // 02:00 → 03:00, 03:30 → 01:30, 02:00 → 03:00 again.
    const twice = zone([2, 1], [2.5, -1], [3, 0]);
    expect(fired('15 2 * * *', twice)).toEqual(['2030-01-10T03:00:00+01:00 gap']);
  });

  it('a gap that ends at a time shown before fires once', () => {
    // 02:00 → 06:00 is too long to serve; 06:30 → 03:30, and 03:45 → 06:15 serves for 03:45 to 06:00.
    const again = zone([2, 4], [2.5, 1], [2.75, 3.5]);
    expect(fired('0 4 * * *', again)).toEqual(['2030-01-10T06:15:00+03:30 gap']);
    const schedule = new Occurrences(parseCron('0 4 * * *'), again);
    expect(schedule.next(at(2.75) - 1)).toBe(at(2.75));
    expect(schedule.next(at(2.75))).toBeGreaterThan(at(24));
    expect(schedule.previous(at(2.75))).toBe(at(2.75));
    expect(schedule.countBetween(at(2.75), at(12))).toBe(0);
  });
});

describe('an expression that never occurs', () => {
  it.each(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 30,31 2 */1'])('%s is refused', (expression) => {
    expect(() => compileSchedule(expression, 'Europe/Berlin')).toThrow(CronError);
    expect(() => compileSchedule(expression, 'Europe/Berlin')).toThrow(
      'never occurs in Europe/Berlin before the year 2101',
    );
  });

  it.each(['0 0 29 2 *', '0 0 29 2 */7', '0 0 30 2 MON'])('%s does occur', (expression) => {
    expect(compileSchedule(expression, 'UTC').next(Date.UTC(2026, 0, 1))).not.toBeNull();
  });

  it('2100 is not a leap year', () => {
    const leap = compileSchedule('0 0 29 2 *', 'UTC');
    expect(leap.next(Date.UTC(2096, 1, 29))).toBeNull();
    expect(leap.previous(Date.UTC(2100, 11, 31))).toBe(Date.UTC(2096, 1, 29));
  });
});

describe('an instant may be any number', () => {
  const hourly = compileSchedule('0 * * * *', 'UTC');
  const first = Date.UTC(1969, 0, 1);
  const last = Date.UTC(2100, 11, 31, 23);

  it('before 1969 the first occurrence is next and none is previous', () => {
    for (const at of [first - 1, -1e15, Number.MIN_SAFE_INTEGER, Number.NEGATIVE_INFINITY]) {
      expect(hourly.next(at)).toBe(first);
      expect(hourly.previous(at)).toBeNull();
    }
  });

  it('after 2100 none is next and the last occurrence is previous', () => {
    for (const at of [last, last + hour, 1e15, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]) {
      expect(hourly.next(at)).toBeNull();
      expect(hourly.previous(at)).toBe(last);
    }
  });

  it('between minutes and before 1970 next and previous are right', () => {
    expect(hourly.next(-1)).toBe(0);
    expect(hourly.next(0)).toBe(hour);
    expect(hourly.next(-hour - 1)).toBe(-hour);
    expect(hourly.previous(-1)).toBe(-hour);
    expect(hourly.previous(hour - 0.5)).toBe(0);
  });

  it('countBetween is 0 backwards, and counts everything from end to end', () => {
    expect(hourly.countBetween(hour, 0)).toBe(0);
    expect(hourly.countBetween(hour, hour)).toBe(0);
    expect(hourly.countBetween(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)).toBe(
      (last - first) / hour + 1,
    );
    expect(hourly.countBetween(Number.NaN, 5)).toBe(0);
    expect(hourly.next(Number.NaN)).toBeNull();
    expect(hourly.previous(Number.NaN)).toBeNull();
  });
});

describe('compiled schedules', () => {
  it('are cached by expression and zone', () => {
    expect(compileSchedule('1 2 * * *', 'UTC')).toBe(compileSchedule('1 2 * * *', 'UTC'));
    expect(compileSchedule('1 2 * * *', 'UTC')).not.toBe(compileSchedule('1 2 * * *', 'GMT'));
  });

  it('are never mistaken for another pair of expression and zone', () => {
    compileSchedule('* * * * *', 'UTC');
    expect(() => compileSchedule('* * * * *\0* * * * *', 'UTC')).toThrow(CronError);
    expect(() => compileSchedule('* * * * *', 'UTC\0* * * * *')).toThrow(ZoneError);
    expect(() => compileSchedule('\0* * * * *', 'UTC')).toThrow(CronError);
  });

  it('leave the cache after thousands of others were requested', () => {
    const kept = compileSchedule('7 7 7 7 *', 'UTC');
    const evicted = compileSchedule('8 8 8 8 *', 'UTC');
    for (let n = 0; n < 10_500; n++) {
      compileSchedule(`${n % 60} ${Math.floor(n / 60) % 24} ${Math.floor(n / 1_440) + 1} * *`, 'UTC');
      if (n % 1_000 === 0) compileSchedule('7 7 7 7 *', 'UTC');
    }
    expect(compileSchedule('7 7 7 7 *', 'UTC')).toBe(kept);
    expect(compileSchedule('8 8 8 8 *', 'UTC')).not.toBe(evicted);
  });
});
