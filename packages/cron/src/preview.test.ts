import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CronError } from './cron.ts';
import { describeCron, preview } from './preview.ts';
import { ZoneError } from './zones.ts';

describe('a preview', () => {
  it('shows instants in UTC, local times with their offset, and the transition of the clock', () => {
    const after = Date.UTC(2026, 9, 24, 12);
    expect(preview({ cron_expression: '30 2 * * *', timezone: 'Europe/Berlin', after, count: 2 })).toEqual({
      occurrences: [
        { at: '2026-10-25T00:30:00.000Z', local: '2026-10-25T02:30:00+02:00', dst: 'overlap' },
        { at: '2026-10-26T01:30:00.000Z', local: '2026-10-26T02:30:00+01:00', dst: null },
      ],
      description: 'At 02:30',
      per_day: 1,
      per_year: 365,
      skipped_local_times: [{ at: '2027-03-28T01:00:00.000Z', local: '2027-03-28T02:30:00' }],
    });
  });

  it('begins strictly after the instant given', () => {
    const after = Date.UTC(2026, 0, 1);
    const { occurrences } = preview({ cron_expression: '0 0 * * *', timezone: 'UTC', after, count: 1 });
    expect(occurrences[0]!.at).toBe('2026-01-02T00:00:00.000Z');
  });

  it('shows fewer if the year 2101 comes first', () => {
    const request = {
      cron_expression: '0 0 1 * *',
      timezone: 'UTC',
      after: Date.UTC(2100, 9, 15),
      count: 10,
    };
    expect(preview(request).occurrences.map(({ at }) => at.slice(0, 10))).toEqual([
      '2100-11-01',
      '2100-12-01',
    ]);
  });

  it('refuses what a schedule refuses', () => {
    const request = { cron_expression: '0 0 1 * *', timezone: 'UTC', after: 0, count: 1 };
    expect(() => preview({ ...request, cron_expression: '@daily' })).toThrow(CronError);
    expect(() => preview({ ...request, timezone: 'PST' })).toThrow(ZoneError);
  });
});

describe('a description', () => {
  it.each([
    ['0 9 * * MON-FRI', 'At 09:00, Monday through Friday'],
    ['*/15 * * * *', 'Every 15 minutes'],
    ['*,5 * * * *', 'Every minute'],
    ['*/24 * * * *', 'At 0, 24, and 48 minutes past the hour'],
    ['0 9 * * 07', 'At 09:00, only on Sunday'],
    ['0 9 * * 5-7', 'At 09:00, Friday through Sunday'],
    ['0 9 * * SUN,*', 'At 09:00'],
    ['0 0 1-31 * 1', 'At 00:00'],
    ['0 0 1 * 1', 'At 00:00, on day 1 of the month, and on Monday'],
    [
      '0 0 */2 * 1',
      'At 00:00, on day 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, and 31 of the month, only on Monday',
    ],
    ['0 0 29 2 *', 'At 00:00, on day 29 of the month, only in February'],
  ])('of %s', (expression, words) => {
    expect(describeCron(expression)).toBe(words);
  });

  it('exists for every accepted expression', () => {
    const field = (min: number, max: number, size: number) => {
      const value = fc.integer({ min, max });
      const step = fc.integer({ min: 1, max: size });
      const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
      const item = fc.oneof(
        fc.constant('*'),
        value.map(String),
        range,
        step.map((n) => `*/${n}`),
        fc.tuple(range, step).map(([r, n]) => `${r}/${n}`),
      );
      return fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(','));
    };
    const expression = fc
      .tuple(field(0, 59, 60), field(0, 23, 24), field(1, 31, 31), field(1, 12, 12), field(0, 7, 7))
      .map((words) => words.join(' '));
    fc.assert(
      fc.property(expression, (text) => {
        expect(describeCron(text)).toMatch(/^[A-Z0-9]/);
        expect(describeCron(text)).not.toMatch(/undefined|NaN|null|\*/);
      }),
      { numRuns: 3_000 },
    );
  });
});
