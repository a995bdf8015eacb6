import { expect, test } from 'vitest';
import { positionCursor, readPosition, sortedPage } from './pages.ts';

const id = '019a0000-0000-7000-8000-000000000000';

test('a position comes back from its cursor, only in the same order and with values of its kinds', () => {
  for (const position of [
    ['é😀', 1_800_000_000_000, id],
    ['', null, id],
  ]) {
    expect(readPosition(positionCursor('name', position), 'name', ['text', 'time', 'id'])).toEqual(position);
  }
  expect(readPosition(undefined, 'name', ['id'])).toBeNull();
  expect(readPosition('', 'name', ['id'])).toBeNull();
  const other = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const next of [
    positionCursor('last', ['a', 1, id]),
    positionCursor('name', ['a', 1]),
    positionCursor('name', ['a', 1, 'x']),
    positionCursor('name', ['a', '1', id]),
    positionCursor('name', ['a', 1e300, id]),
    positionCursor('name', ['a\0', 1, id]),
    positionCursor('name', ['\ud800', 1, id]),
    other(['v1', 'name', {}, 1, id]),
    other(['v2', 'name', 'a', 1, id]),
    other(null),
    other({}),
    'x',
    '%',
  ]) {
    expect(() => readPosition(next, 'name', ['text', 'time', 'id']), next).toThrow(/next: is not the `next`/);
  }
});

test('a sorted page has a cursor only if there is one row more than its limit', () => {
  const page = (rows: number[]) =>
    sortedPage(
      rows,
      2,
      (row) => `after ${row}`,
      (row) => -row,
    );
  expect(page([1, 2, 3])).toEqual({ data: [-1, -2], has_more: true, next: 'after 2' });
  expect(page([1, 2])).toEqual({ data: [-1, -2], has_more: false, next: '' });
  expect(page([])).toEqual({ data: [], has_more: false, next: '' });
});
