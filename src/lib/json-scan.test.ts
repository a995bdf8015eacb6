import { describe, expect, test } from 'vitest';
import { parseJson } from './json.ts';
import { scanJson } from './json-scan.ts';
import { storageFaults } from './text.ts';

const scan = (json: string, limits = { depth: 200, values: 200_000 }) => scanJson(Buffer.from(json), limits);

/** The number of values in `value`, with it. */
const count = (value: unknown): number =>
  value !== null && typeof value === 'object'
    ? 1 + Object.values(value).reduce((sum: number, item) => sum + count(item), 0)
    : 1;

describe('the scan of JSON', () => {
  test.each([
    '1',
    '""',
    '[]',
    '{}',
    ' [ ] ',
    '[[],{},[[]]]',
    '{"a":[1,2,{"b":null}],"c":"[,{\\"","d":{ }}',
    '["a,b","\\\\",",",[true , false]]',
  ])('counts the values of %s', (json) => {
    const values = count(JSON.parse(json));
    expect(scan(json, { depth: 200, values }).over).toBeNull();
    if (values > 1) expect(scan(json, { depth: 200, values: values - 1 }).over).toBe('values');
  });

  test('counts the depth', () => {
    expect(scan('[{"a":[]},[]]', { depth: 3, values: 9 }).over).toBeNull();
    expect(scan('[{"a":[]},[]]', { depth: 2, values: 9 }).over).toBe('depth');
  });

  test.each([
    '["\\u0000"]',
    '{"\\u0000":1}',
    '["\\ud800"]',
    '["\\uDC00"]',
    '["\\ud800\\ud800\\udc00"]',
    '["\\ud83dx\\ude00"]',
    '[1e400]',
    '[-1E999]',
    `[1${'0'.repeat(400)}]`,
    `[12.5e${'9'.repeat(5)}]`,
  ])('says of %s that it may not be stored', (json) => {
    expect(storageFaults(parseJson(json))).not.toEqual([]);
    expect(scan(json).storable).toBe(false);
  });

  test.each([
    '["\\ud83d\\ude00 \\u00e9 \\\\u0000"]',
    '[true,false,null,-1.5,"1e400"]',
    '{"\\u0041":[1,2],"é😀":12345678901234567890}',
  ])('says of %s that it can be stored', (json) => {
    expect(storageFaults(parseJson(json))).toEqual([]);
    expect(scan(json)).toEqual({ over: null, storable: true });
  });
});
