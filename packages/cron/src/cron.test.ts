import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CronError, parseCron } from './cron.ts';

const refused = (expression: string): string => {
  try {
    parseCron(expression);
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
  throw new Error(`${JSON.stringify(expression)} was accepted`);
};

const bit = (...values: number[]) => values.reduce((bits, value) => bits | (1 << value), 0);
const field = { minute: 0, hour: 1, day: 2, month: 3, weekday: 4 };
const with5 = (name: keyof typeof field, text: string) => {
  const words = ['*', '*', '*', '*', '*'];
  words[field[name]] = text;
  return words.join(' ');
};

describe('the grammar', () => {
  it('puts every field into its bit set', () => {
    expect(parseCron('0,31,32,59 23 1,31 12 6')).toEqual({
      minutesLow: bit(0, 31),
      minutesHigh: bit(0, 27),
      hours: bit(23),
      days: bit(0, 30),
      months: bit(11),
      weekdays: bit(6),
      bothDays: false,
    });
  });

  it.each([
    ['1-7/2', bit(0, 1, 3, 5)],
    ['SUN-MON', bit(0, 1)],
    ['5-7', bit(0, 5, 6)],
    ['0-7', 127],
    ['7', bit(0)],
    ['07', bit(0)],
    ['7-7', bit(0)],
    ['*/7', bit(0)],
    ['FRI-7', bit(0, 5, 6)],
    ['mon,Wed-fri', bit(1, 3, 4, 5)],
    ['*,3', 127],
  ])('reads the day of week %s', (text, bits) => {
    expect(parseCron(with5('weekday', text)).weekdays).toBe(bits);
  });

  it('accepts names of months in any case, in lists, ranges and with steps', () => {
    expect(parseCron(with5('month', 'jan,Mar-MAY/2,dec')).months).toBe(bit(0, 2, 4, 11));
  });

  it('accepts steps up to the number of values of a field, and none above', () => {
    for (const [name, size] of [
      ['minute', 60],
      ['hour', 24],
      ['day', 31],
      ['month', 12],
      ['weekday', 7],
    ] as const) {
      parseCron(with5(name, `*/${size}`));
      expect(refused(with5(name, `*/${size + 1}`))).toContain(`write one from 1 to ${size}`);
    }
  });

  it('accepts spaces and tabs between and around the fields, and no other blanks', () => {
    expect(parseCron(' \t0\t 9 *  * 1\t')).toEqual(parseCron('0 9 * * 1'));
    for (const blank of ['\n', '\r', '\u00a0', '\u2003', '\v', '\f']) {
      expect(refused(`0 9 * * 1${blank}`)).toContain('is not allowed: write a space');
    }
  });

  it('requires both the day of month and the day of week exactly if one of the two fields begins with *', () => {
    expect(parseCron('0 0 1 * 1').bothDays).toBe(false);
    expect(parseCron('0 0 */2 * 1').bothDays).toBe(true);
    expect(parseCron('0 0 1 * */2').bothDays).toBe(true);
    expect(parseCron('0 0 *,5 * 1').bothDays).toBe(true);
    expect(parseCron('0 0 5,* * 1').bothDays).toBe(false);
    expect(parseCron('0 0 1-31 * 1').bothDays).toBe(false);
  });

  it('accepts 1,000 characters and refuses 1,001', () => {
    const long = `${'1,'.repeat(495)}1 * * * *`;
    parseCron(long.padEnd(1_000));
    expect(refused(long.padEnd(1_001))).toContain('longer than 1,000 characters');
  });
});

describe('a refusal says why, and what to write instead', () => {
  it.each([
    ['@daily', '`0 0 * * *`'],
    ['@Weekly', '`0 0 * * 0`'],
    ['@annually', '`0 0 1 1 *`'],
    ['@every 5m', 'begin with `@`'],
    ['@constructor', 'begin with `@`'],
    ['TZ=UTC 0 9 * * *', 'put it in `timezone` and write `0 9 * * *`'],
    ['CRON_TZ=Asia/Tokyo 0 9 * *', 'put it in `timezone`'],
    ['', 'is empty'],
    [' \t', 'is empty'],
    ['* * * *', 'has 4 fields'],
    ['0 0 12 * * *', 'write `0 12 * * *`'],
    ['0 12 * * * 2026', 'write `0 12 * * *`'],
    ['0 0 12 * * * 2026', 'write `0 12 * * *`'],
    ['0 0 L * *', '`L` (the last day)'],
    ['0 0 * * 5l', '`L` (the last day)'],
    ['0 0 * * FRIL', '`L` (the last day)'],
    ['0 0 15W * *', '`W` (the nearest weekday)'],
    ['0 0 LW * *', '`W` (the nearest weekday)'],
    ['0 0 * * MON#2', '`#` (the nth weekday'],
    ['0 0 ? * 1', 'write `*`'],
    ['H H * * *', '`H` (a hashed value)'],
    ['H/15 * * * *', '`H` (a hashed value)'],
    ['0~9 * * * *', '`~` (a random value)'],
    ['0 0 * * 1%x', '`%` is not supported'],
    ['5/15 * * * *', 'write `5-59/15`'],
    ['* * * * 7/2', 'write `7`'],
    ['* * * * FRI-SUN', 'write `FRI-7`'],
    ['* * * * 7-1', 'write `0-1`'],
    ['* * * * FRI-MON', 'write `FRI-7,MON`'],
    ['* * * NOV-FEB *', 'write `NOV-12,1-FEB`'],
    ['* 22-6 * * *', 'write `22-23,0-6`'],
    ['* 22-6/3 * * *', 'write `22,1,4`'],
    ['005 * * * *', 'write `5`'],
    ['*/005 * * * *', 'write `*/5`'],
    ['100 * * * *', 'from 0 to 59'],
    ['60 * * * *', 'from 0 to 59'],
    ['* 24 * * *', 'from 0 to 23'],
    ['* * 0 * *', 'from 1 to 31'],
    ['* * * 13 *', 'from JAN to DEC'],
    ['* * * * 8', 'from SUN to SAT'],
    ['1,,2 * * * *', 'write `1,2`'],
    ['1, * * * *', 'write `1`'],
    [', * * * *', 'has an empty item'],
    ['*/0 * * * *', 'a step of 0 never ends'],
    ['*/ * * * *', 'is not a number'],
    ['/5 * * * *', 'write `*/5`'],
    ['-5 * * * *', 'lacks its beginning'],
    ['5- * * * *', 'lacks its end'],
    ['1-2-3 * * * *', 'more than one range'],
    ['*-5 * * * *', 'write `*` alone'],
    ['*/2/3 * * * *', 'more than one step'],
    ['** * * * *', 'is not a value'],
    ['0 9 * * MONDAY', 'write `MON`'],
    ['0 9 * MON *', 'a name of the field day of week'],
    ['0 9 * * FOO', 'is not a value'],
    ['0 9 * * é', 'U+00E9'],
    ['0 9 * * \u{1F600}', 'U+1F600'],
    ['0 9 * * \ud800', 'U+D800'],
    ['0 9 * * \0', 'U+0000'],
    ['0 9 * * MON–FRI', 'U+2013 is not allowed: write the ASCII `-`'],
    ['0 9 * * *;', '`;` (U+003B)'],
    ['0 9 1.5 * *', '`.` (U+002E)'],
    ['+5 * * * *', '`+` (U+002B)'],
    ['0x5 * * * *', 'is not a value'],
    // In upper case these two would be FRI and SUN.
    ['0 9 * * fr\u0131', 'U+0131'],
    ['0 9 * * \u017fun', 'U+017F'],
  ])('%j', (expression, part) => {
    expect(refused(expression)).toContain(part);
  });

  it('names the field', () => {
    expect(refused('0 25 * * *')).toMatch(/^Hour: /);
    expect(refused('0 2 * * 9')).toMatch(/^Day of week: /);
  });

  it('suggests for a wrapping range the same values', () => {
    for (const [name, low, high, size] of [
      ['minute', 0, 59, 60],
      ['hour', 0, 23, 24],
      ['day', 1, 31, 31],
      ['month', 1, 12, 12],
      ['weekday', 0, 7, 7],
    ] as const) {
      for (let a = low; a <= high; a++) {
        for (let b = low; b < a; b++) {
          for (const step of [1, 2, 3, 5]) {
            const message = refused(with5(name, `${a}-${b}${step > 1 ? `/${step}` : ''}`));
            const suggestion = /write `([^`]+)`/.exec(message)?.[1];
            const wanted: number[] = [];
            const span = (b - a + size) % size;
            for (let k = 0; k <= span; k += step) wanted.push(((a - low + k) % size) + low);
            expect(parseCron(with5(name, suggestion!)), message).toEqual(
              parseCron(with5(name, wanted.join(','))),
            );
          }
        }
      }
    }
  });
});

describe('any text', () => {
  const piece = fc.constantFrom(
    ...'0 1 5 9 07 59 60 100 * / - , L W # ? H ~ % @ = ; é MON FRI SUN jan DEC TZ=UTC \t'.split(' '),
    ' ',
    '* * * *',
    '\u{1F600}',
    '\ud800',
    '\u0131',
    '\n',
    '*/2',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(piece, { maxLength: 20 }).map((parts) => parts.join('')),
    fc
      .array(
        fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
        { minLength: 5, maxLength: 5 },
      )
      .map((words) => words.join(' ')),
  );

  it('is parsed, or refused with a message, and throws nothing else', () => {
    fc.assert(
      fc.property(text, (expression) => {
        try {
          const cron = parseCron(expression);
          expect(cron.minutesLow | cron.minutesHigh).not.toBe(0);
          for (const bits of [cron.hours, cron.days, cron.months, cron.weekdays])
            expect(bits).toBeGreaterThan(0);
        } catch (error) {
          if (!(error instanceof CronError)) throw error;
          expect(error.message).toMatch(/^[A-Z].+[.]$/s);
          expect(error.message).not.toMatch(/undefined|null|NaN|\[object/);
          expect(error.message.length).toBeLessThan(700);
        }
      }),
      { numRuns: 20_000 },
    );
  });

  // In quadratic time each would take minutes.
  it('of a million characters is refused in linear time', { timeout: 60_000 }, () => {
    for (const part of [' ', '\t* ', '1,', '* ', '1-', '*/', 'TZ= ', '@', 'é', '\u{1F600}', '0']) {
      for (const length of [1_000, 1_000_000]) {
        refused(part.repeat(length / part.length));
      }
    }
  });
});
