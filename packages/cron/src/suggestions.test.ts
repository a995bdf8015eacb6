import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCron } from './cron.ts';
import { suggestExpression, suggestZone } from './suggestions.ts';

describe('a suggestion for a refused expression', () => {
  it.each([
    ['@daily', '0 0 * * *'],
    ['@hourly', '0 * * * *'],
    ['0 0 9 * * *', '0 9 * * *'],
    ['0 9 * * MON-FRI 2027', '0 9 * * MON-FRI'],
    ['TZ=UTC 0 9 * * *', '0 9 * * *'],
    ['5/15 * * * *', '5-59/15 * * * *'],
    ['0 22-6 * * *', '0 22-23,0-6 * * *'],
    ['0 9 * * FRI-SUN', '0 9 * * FRI-7'],
    ['*/0 * * * *', '*/1 * * * *'],
    ['0 9 * * Monday', '0 9 * * MON'],
    ['0 9 * * Monday-Friday', '0 9 * * MON-FRI'],
    ['0 9 ? * MON', '0 9 * * MON'],
    ['1,,2 * * * *', '1,2 * * * *'],
    ['005 9 * * *', '5 9 * * *'],
    ['0 9 * * MON–FRI', '0 9 * * MON-FRI'],
    ['0\u00a09 * * *', '0 9 * * *'],
    ['  0 9  * * Monday,Tuesday  ', '0 9 * * MON,TUE'],
    ['0 22-6/2 * * FRI-SUN', '0 22,0,2,4,6 * * FRI-7'],
  ])('%s: %s', (written, meant) => {
    expect(suggestExpression(written)).toBe(meant);
  });

  it.each([
    '',
    'every day',
    '60 * * * *',
    '0 9 L * *',
    '0 9 * *',
    'TZ=UTC nonsense',
    '0 9 30 2',
    '🙂 * * * *',
  ])('%j has none', (written) => {
    expect(suggestExpression(written)).toBeNull();
  });

  it('is always accepted', () => {
    const word = fc.stringMatching(/^[0-9A-Za-z*,/\-#?L@]{1,8}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 7 }), (words) => {
        const suggestion = suggestExpression(words.join(' '));
        if (suggestion !== null) parseCron(suggestion);
      }),
      { numRuns: 2_000 },
    );
  });
});

it.each([
  ['europe/berlin', 'Europe/Berlin'],
  ['utc', 'UTC'],
  ['Berlin', 'Europe/Berlin'],
  ['new york', 'America/New_York'],
  ['PST', null],
  ['', null],
  ['Nowhere', null],
])('a suggestion for the zone %j is %j', (written, meant) => {
  expect(suggestZone(written)).toBe(meant);
});
