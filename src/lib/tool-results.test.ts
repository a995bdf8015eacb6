import { expect, test } from 'vitest';
import { notFound, unavailable, unprocessable } from './errors.ts';
import { fence } from './fence.ts';
import { orRefusal, showRows } from './tool-results.ts';

const columns = [{ name: 'n', datatype: 'Integer', label: null }];
const rowsOf = (n: number, value: unknown = 1) => Array.from({ length: n }, () => [value]);

test('no text can end its fence', () => {
  const marks = Array.from({ length: 2 }, () => /BEGIN ([0-9a-f]{16})\nx\nEND \1$/.exec(fence('x'))?.[1]);
  expect(marks[0]).toBeDefined();
  expect(marks[0]).not.toBe(marks[1]);
});

test.each([
  [2, 1, false, /^2 rows\.\n/, 2],
  [50, 1, true, /^Only the first 50 of more than 50 rows are shown\.\n/, 50],
  [51, 1, false, /^Only the first 50 of 51 rows are shown\.\n/, 50],
  [3, 'ü'.repeat(5_000), false, /^Only the first 2 of 3 rows are shown\.\n/, 2],
])('%s rows are shown up to 50 and 20 KB', (n, value, truncated, says, shown) => {
  const text = showRows({ columns, rows: rowsOf(n, value), truncated });
  expect(text).toMatch(says);
  expect(text.split('\n').filter((line) => line.startsWith('['))).toHaveLength(shown);
  expect(text).toContain('{"columns":[{"name":"n","datatype":"Integer"}]}');
});

test('a refusal is a result with its hints as data', async () => {
  const refuse = (error: Error) => orRefusal(() => Promise.reject(error));
  const fault = unprocessable([{ path: 'sql', message: 'no' }], { suggestions: ['orders'], position: 3 });
  const refused = await refuse(fault);
  expect(refused.isError).toBe(true);
  expect(refused.text).toMatch(/^sql: no\n.*\nBEGIN \w+\n\{"suggestions":\["orders"\]\}\nEND/);
  expect(await refuse(notFound('file'))).toEqual({ text: 'The file does not exist.', isError: true });
  expect(await refuse(unavailable('All are busy.'))).toEqual({ text: 'All are busy.', isError: true });
  await expect(refuse(new Error('a secret'))).rejects.toThrow('a secret');
});
