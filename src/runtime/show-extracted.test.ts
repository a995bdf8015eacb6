import { expect, test } from 'vitest';
import { showExtracted } from './show-extracted.ts';

/** An extraction of `count` values, each of which stands on a line of 100 characters. */
const extracted = (count: number) => ({
  data: { rows: Array.from({ length: count }, (_, i) => `value ${i}`) },
  valid: true,
  fields: Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `/rows/${i}`,
      {
        confidence: i === 7 ? 'low' : 'high',
        citations: [{ page: 1, line: i + 1, text: `line ${i} `.padEnd(100, 'x') }],
      },
    ]),
  ),
  warnings: [],
});
const shown = (count: number) => JSON.parse(/\{.*\}/.exec(showExtracted(extracted(count)))![0]);

test('a model is shown all of the data, and as much about it as there is room for', () => {
  expect(shown(10).fields['/rows/3']).toEqual({
    confidence: 'high',
    page: 1,
    line: 4,
    text: expect.stringMatching(/^line 3 x+$/),
  });
  expect(shown(300).fields['/rows/3']).toEqual({ confidence: 'high', page: 1, line: 4 });
  expect(shown(1_000)).toMatchObject({
    fields: { '/rows/7': { confidence: 'low', page: 1, line: 8 } },
    note: 'Other values are sure.',
  });
  expect(Object.keys(shown(1_000).fields)).toEqual(['/rows/7']);
  expect(shown(1_000).data.rows).toHaveLength(1_000);
  expect(() => showExtracted(extracted(5_000))).toThrow(/too long/);
});
