import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { type PeriodKind, periodAt } from './periods.ts';

const at = (text: string) => Date.parse(text);
const shown = (kind: PeriodKind, timezone: string, time: string) => {
  const { start, end } = periodAt(kind, timezone, at(time), at('2020-01-01T00:00:00Z'));
  return [start, end].map((one) => one && new Date(one).toISOString());
};

test('a week begins on Monday, a month on its first day, at local midnight on both sides of a change of the clock', () => {
  expect(shown('week', 'UTC', '2026-11-01T12:00:00Z')).toEqual([
    '2026-10-26T00:00:00.000Z',
    '2026-11-02T00:00:00.000Z',
  ]);
  expect(shown('month', 'Europe/Berlin', '2026-10-31T22:59:59.999Z')).toEqual([
    '2026-09-30T22:00:00.000Z',
    '2026-10-31T23:00:00.000Z',
  ]);
  expect(shown('month', 'Europe/Berlin', '2026-10-31T23:00:00Z')[0]).toBe('2026-10-31T23:00:00.000Z');
  expect(shown('total', 'Europe/Berlin', '2026-10-31T23:00:00Z')).toEqual(['2020-01-01T00:00:00.000Z', null]);
});

test('a day whose midnight is skipped begins with the jump; one that is shown twice begins once', () => {
  // Cairo: at 00:00 the clock goes to 01:00. Havana: at 01:00 back to 00:00. St. John's in 2010: at 00:01 back to 23:01.
  expect(shown('day', 'Africa/Cairo', '2026-04-23T22:30:00Z')[0]).toBe('2026-04-23T22:00:00.000Z');
  expect(shown('day', 'America/Havana', '2026-11-01T05:30:00Z')).toEqual([
    '2026-11-01T04:00:00.000Z',
    '2026-11-02T05:00:00.000Z',
  ]);
  expect(shown('day', 'America/St_Johns', '2010-11-07T03:00:00Z')[0]).toBe('2010-11-07T02:30:00.000Z');
});

test('periods follow each other without a gap, and begin where the days of Temporal do', () => {
  for (const timezone of [
    'UTC',
    'Europe/Berlin',
    'Africa/Cairo',
    'Asia/Beirut',
    'Pacific/Apia',
    'America/Santiago',
    'Australia/Lord_Howe',
  ]) {
    for (const kind of ['day', 'week', 'month'] as const) {
      let time = at('2009-12-31T00:00:00Z');
      while (time < at('2012-03-01T00:00:00Z')) {
        const { start, end } = periodAt(kind, timezone, time, 0);
        const zoned = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone);
        const day = zoned.toPlainDate();
        const first =
          kind === 'day'
            ? day
            : kind === 'week'
              ? day.subtract({ days: day.dayOfWeek - 1 })
              : day.with({ day: 1 });
        expect([timezone, kind, start]).toEqual([
          timezone,
          kind,
          first.toZonedDateTime(timezone).epochMilliseconds,
        ]);
        expect(periodAt(kind, timezone, end! - 1, 0)).toEqual({ start, end });
        expect(periodAt(kind, timezone, end!, 0).start).toBe(end);
        time = end!;
      }
    }
  }
});
