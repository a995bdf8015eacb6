import { expect, test } from 'vitest';
import { defaultTimes, expressionOf, readTime, type Times, timesOf, toPicker } from './repeat.ts';

const with_ = (times: Partial<Times>): Times => ({ ...defaultTimes, ...times });

test('each way to repeat is an expression, and comes back from what is stored with it', () => {
  const cases: [Partial<Times>, string][] = [
    [{ repeat: 'minutes', every: 1 }, '* * * * *'],
    [{ repeat: 'minutes', every: 15 }, '*/15 * * * *'],
    [{ repeat: 'hourly', minute: 5 }, '5 * * * *'],
    [{ repeat: 'daily', time: '02:30' }, '30 2 * * *'],
    [{ repeat: 'weekly', time: '2:30', days: ['1', '2', '3', '4', '5'] }, '30 2 * * 1-5'],
    [{ repeat: 'weekly', time: '0800', days: ['1', '3', '6', '0'] }, '0 8 * * 0,1,3,6'],
    [{ repeat: 'weekly', time: '08:00', days: ['6', '0'] }, '0 8 * * 0,6'],
    [{ repeat: 'weekly', time: '08:00', days: ['1', '2', '3', '4', '5', '6', '0'] }, '0 8 * * *'],
    [{ repeat: 'monthly', time: '07:00', day: 31 }, '0 7 31 * *'],
  ];
  for (const [times, expression] of cases) {
    expect(expressionOf(with_(times))).toBe(expression);
    const found = timesOf(expression, JSON.parse(JSON.stringify(toPicker(with_(times)))));
    expect(found.changedOutside).toBe(false);
    expect(found.times.repeat).toBe(times.repeat);
    expect(expressionOf(found.times)).toBe(expression);
  }
});

test('what is missing or not readable is no expression', () => {
  expect(expressionOf(with_({ repeat: 'daily', time: '25:00' }))).toBeNull();
  expect(expressionOf(with_({ repeat: 'daily', time: '' }))).toBeNull();
  expect(expressionOf(with_({ repeat: 'weekly', days: [] }))).toBeNull();
  expect(expressionOf(with_({ repeat: 'monthly', day: null }))).toBeNull();
  expect(expressionOf(with_({ repeat: 'hourly', minute: 60 }))).toBeNull();
  expect(expressionOf(with_({ repeat: 'expression', cron_expression: '  ' }))).toBeNull();
  expect(['2:30', '0230', '14.05', '24:00', '2', 'noon'].map(readTime)).toEqual([
    '02:30',
    '02:30',
    '14:05',
    null,
    null,
    null,
  ]);
});

test('an expression that was changed outside the picker is shown as an expression', () => {
  const stored = toPicker(with_({ repeat: 'daily', time: '02:30' }));
  expect(timesOf('45 2 * * *', stored)).toMatchObject({
    changedOutside: true,
    times: { repeat: 'expression', cron_expression: '45 2 * * *', time: '02:30' },
  });
  for (const other of [undefined, null, 'x', [], { v: 2, kind: 'daily' }, { v: 1, kind: 'yearly' }]) {
    expect(timesOf('45 2 * * *', other)).toMatchObject({
      changedOutside: false,
      times: { repeat: 'expression' },
    });
  }
  const written = toPicker(with_({ repeat: 'expression', cron_expression: '1 2 * * *' }));
  expect(timesOf('45 2 * * *', written).changedOutside).toBe(false);
  expect(timesOf('30 2 * * 5', { v: 1, kind: 'weekly', time: 7, days: 'x' }).changedOutside).toBe(true);
});
