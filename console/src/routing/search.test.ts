import { expect, test } from 'vitest';
import { flag, moment, oneOf, parseSearch, searchSchema, stringifySearch, text, texts } from './search.ts';

const read = searchSchema({
  q: text,
  status: texts,
  view: oneOf(['list', 'timeline']),
  live: flag,
  from: moment,
});

test('an address survives being read and written', () => {
  const address = '?q=12&status=ERROR&status=PENDING&view=timeline&live=1';
  expect(stringifySearch(read(parseSearch(address)))).toBe(address);
});

test('times and lists stay readable in an address', () => {
  expect(stringifySearch({ at: '2026-11-22T02:30:00Z', path: 'a/b' })).toBe(
    '?at=2026-11-22T02:30:00Z&path=a/b',
  );
});

test('what the page does not know counts as absent', () => {
  expect(read(parseSearch('?q=&status=&view=other&live=yes&page=7'))).toEqual({});
  expect(read(parseSearch('?from=yesterday'))).toEqual({});
  // The router keeps what a reader leaves out.
  expect(read(parseSearch('?view=other'))).toHaveProperty('view', undefined);
  expect(read(parseSearch('?q=a&q=b&status=ERROR'))).toEqual({ q: 'a', status: ['ERROR'] });
});
