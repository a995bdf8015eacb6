import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Line } from '../../sandbox/index.ts';
import { groundValues } from './ground.ts';

type Value = string | number | boolean;

const pageOf = (lines: (string | Line)[], page = 1) => ({
  page,
  lines: lines.map((line) => (typeof line === 'string' ? { text: line, bbox: null } : line)),
});
const ground = async (value: Value, ...lines: (string | Line)[]) =>
  (await groundValues([value], [pageOf(lines)]))[0]!;
const confidenceOf = async (value: Value, ...lines: (string | Line)[]) => {
  const { confidence, isFound } = await ground(value, ...lines);
  return isFound ? confidence : 'absent';
};

test.each<[value: Value, line: string, confidence: string]>([
  ['Acme Ltd.', 'Seller: Acme Ltd., London', 'high'],
  ['acme  ltd', 'Seller: ACME Ltd', 'medium'],
  ['ﬁrst', 'the first', 'medium'],
  ['Café', 'Cafe\u0301', 'medium'],
  ['Acme', 'Acmeville', 'absent'],
  ['cme', 'Acme', 'absent'],
  ['ä', 'a\u0308b', 'absent'],
  ['$a', 'US$a', 'absent'],
  ['a$', 'a$b', 'absent'],
  ['C++', 'C++ and C', 'high'],
  ['Inc.', 'Inc.', 'high'],
  ['1234', '1234.75', 'absent'],
  ['INV-7', 'INV-7.', 'high'],
  ['INV-7', 'INV-7.5', 'absent'],
  ['0042', '42', 'absent'],
  ['1234.56', '1.234,56 €', 'medium'],
  [1234.75, '$1234.75', 'high'],
  [1234.75, '1,234.75', 'medium'],
  [1234.75, '1.234,75', 'medium'],
  [1234.75, '1 234,75', 'medium'],
  [1234567.5, "1'234'567.50", 'medium'],
  [1234.75, 'EUR1,234.75', 'medium'],
  [12.5, '12.50', 'medium'],
  [234, '1234.75', 'absent'],
  [1234, '1234.75', 'absent'],
  [34.75, '1234.75', 'absent'],
  [1234, '1,234', 'medium'],
  [1.234, '1,234', 'medium'],
  [5, '5,12.50', 'high'],
  [12.5, '5,12.50', 'medium'],
  [5, '5kg', 'absent'],
  [-5, 'minus -5', 'high'],
  [5, 'minus -5', 'absent'],
  [-5, '-€5', 'medium'],
  [-5, '(5)', 'medium'],
  [5, '(5)', 'high'],
  [5, '1-5', 'high'],
  [1e21, '1000000000000000000000', 'high'],
  [true, 'paid: true', 'high'],
  [true, 'paid: TRUE', 'medium'],
  [true, 'paid: Yes', 'medium'],
  [false, 'paid: no', 'medium'],
  [false, 'nothing', 'absent'],
])('%j in %j: %s', async (value, line, confidence) => {
  expect(await confidenceOf(value, line)).toBe(confidence);
});

test.each([
  '2026/03/05',
  '2026.3.5',
  '20260305',
  '05.03.2026',
  '5.3.26',
  '05/03/2026',
  '03/05/2026',
  '05-03-2026',
  '5 March 2026',
  '5. März 2026',
  '5 Mrz. 2026',
  'March 5, 2026',
  'MAR 5 2026',
  '05-Mar-2026',
])('the day 2026-03-05 is found as %s, and no other day is', async (written) => {
  expect(await confidenceOf('2026-03-05', `Date: ${written}.`)).toBe('medium');
  expect(await confidenceOf('2026-03-06', written)).toBe('absent');
  expect(await confidenceOf('2026-03-05', `1${written}`)).toBe('absent');
});

test('a day is verbatim as it stands, and a value in another layout is the same day', async () => {
  expect(await confidenceOf('2026-03-05', '2026-03-05')).toBe('high');
  expect(await confidenceOf('5 Mai 2026', '05.05.2026')).toBe('medium');
  expect(await confidenceOf('31.02.2026', '2026-02-31')).toBe('absent');
});

test('a value that runs over a line end is cited at its first line, but none runs over a page', async () => {
  const found = await ground('12 Long Street London', 'Address: 12 Long', 'Street   London');
  expect(found).toMatchObject({
    confidence: 'medium',
    citations: [{ page: 1, line: 1, text: 'Address: 12 Long' }],
  });
  expect(await confidenceOf('2026-03-05', '5', 'March', '2026')).toBe('medium');
  const [apart] = await groundValues(['a b'], [pageOf(['a'], 1), pageOf(['b'], 2)]);
  expect(apart).toMatchObject({ isFound: false, citations: [] });
});

test('the first five places are cited in reading order, as they stand before normalised', async () => {
  const { citations } = await ground(7, ...Array.from({ length: 9 }, (_, i) => (i % 2 ? '7' : '7.0')));
  expect(citations.map(({ line }) => line)).toEqual([2, 4, 6, 8]);
  const many = await ground('x', ...Array.from({ length: 9 }, () => 'x'));
  expect(many.citations.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5]);
});

test('a citation shows at most 200 characters and the box of the words, on the page', async () => {
  const bbox = { left: 0, top: 0.5, width: 1, height: 0.1 };
  const words = [
    { start: 0, end: 2, bbox: { ...bbox, width: 0.2 } },
    { start: 3, end: 6, bbox: { ...bbox, left: 0.3, width: 0.2 } },
    { start: 7, end: 10, bbox: { ...bbox, left: 0.6, width: 5 } },
  ];
  const { citations } = await ground('bcd efg', { text: `aa bcd efg ${'😀'.repeat(300)}`, bbox, words });
  expect([...citations[0]!.text]).toHaveLength(200);
  expect(citations[0]!.bbox).toEqual({ left: 0.3, top: 0.5, width: 0.7, height: 0.1 });
});

test('OCR that is not sure lowers the confidence by one', async () => {
  const line = (text: string, confidence: number) => ({ text, bbox: null, confidence });
  expect(await confidenceOf('abc', line('abc', 0.69))).toBe('medium');
  expect(await ground('abc', line('ABC', 0.69))).toMatchObject({ confidence: 'low', isFound: true });
  expect(await confidenceOf('abc', line('abc', 0.7))).toBe('high');
  expect(await confidenceOf('abc', line('abc', 0.5), line('abc', 0.9))).toBe('high');
});

test('a separator between cells is no part of a number', async () => {
  const page = { ...pageOf(['1001,5,12.50', '3,40']), separator: ',' };
  const found = await groundValues(['1001', 5, 40, 3.4], [page]);
  expect(found.map(({ isFound }) => isFound)).toEqual([true, true, true, false]);
});

test('a blank groups the digits of a number; a tab or several blanks divide cells', async () => {
  const found = async (text: string) =>
    (await groundValues([1234.5], [pageOf([text])])).map(({ isFound }) => isFound);
  expect(await found('Total 1 234,50')).toEqual([true]);
  expect(await found('Nut\t1\t234,50')).toEqual([false]);
  expect(await found('Nut   1   234,50')).toEqual([false]);
});

test('what stands in a text as a whole is found, whatever else does', async () => {
  const words = fc.stringMatching(/^[a-c1.,$ -]{0,6}$/);
  await fc.assert(
    fc.asyncProperty(
      words,
      fc.stringMatching(/^[a-c1$][a-c1.$ -]{0,6}[a-c1$]$/),
      words,
      async (before, value, after) => {
        const { confidence } = await ground(value, `${before} ${value} ${after}`);
        expect(confidence).toBe('high');
      },
    ),
  );
});

test('what is found as a text is in the text, with nothing that touches it', async () => {
  const word = /[\p{L}\p{N}]/u;
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.stringMatching(/^[ab$ ]{1,5}$/).filter((value) => value.trim() === value),
        { minLength: 1, maxLength: 8 },
      ),
      fc.stringMatching(/^[ab$ ]{0,30}$/),
      async (values, text) => {
        const found = await groundValues(values, [pageOf([text])]);
        for (const [i, value] of values.entries()) {
          let count = 0;
          for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
            if (!word.test(value[0]!) || !word.test(text[at - 1] ?? '')) {
              const [first, last] = [value[0]!, value.at(-1)!];
              const touches = word.test(text[at - 1] ?? '') || word.test(text[at + value.length] ?? '');
              if (!touches && first && last) count++;
            }
          }
          const verbatim = found[i]!.confidence === 'high' ? found[i]!.citations.length : 0;
          expect(verbatim).toBe(Math.min(count, 5));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('hostile text and values are searched in parts, and other requests have their turn', async () => {
  let turns = 0;
  const timer = setInterval(() => void turns++, 1);
  const size = 60_000;
  const values = Array.from({ length: 300 }, (_, i) => `${'a '.repeat(i)}a`);
  const hostile: (readonly [Value[], string])[] = [
    [values, 'a '.repeat(size / 2)],
    [values.map((value) => `$${value}`), 'a$ '.repeat(size / 3)],
    [[1, 111, '1.1'], '1.'.repeat(size / 2)],
    [[1], '1 111 '.repeat(size / 6)],
    [['2026-03-05'], '5. '.repeat(size / 3)],
    [['a'], 'a\u0301\u0301'.repeat(size / 3)],
    [[7], '('.repeat(size)],
    [['a'], 'a'.repeat(size)],
  ];
  for (const [searched, text] of hostile) await groundValues(searched, [pageOf([text])]);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(hostile.length);
});
