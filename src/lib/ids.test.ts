import { expect, test } from 'vitest';
import { idsBeginning, isId, newId } from './ids.ts';

test('ids are UUIDs of version 7 that sort in the order in which they were made', () => {
  const ids = Array.from({ length: 100_000 }, newId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  expect(
    ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
  ).toBe(true);
});

test('an id contains its time in milliseconds', () => {
  const before = Date.now();
  const at = Number.parseInt(newId().replace('-', '').slice(0, 12), 16);
  // The ids of the test above are ahead of the clock if they were more than 4,096 in a millisecond.
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now() + 1_000);
});

test.each([
  '',
  'x',
  '01980000-0000-7000-8000-00000000000',
  '01980000-0000-7000-8000-0000000000001',
  "' or 1=1",
])('%j does not have the form of an id', (text) => {
  expect(isId(text)).toBe(false);
});

test('the ids that begin with a text are between the first and the last of them', () => {
  const id = newId();
  expect(idsBeginning(id.toUpperCase())).toEqual({ first: id, last: id });
  expect(idsBeginning('01a2-')).toBeNull();
  expect(idsBeginning('01A20391-e')).toEqual({
    first: '01a20391-e000-0000-0000-000000000000',
    last: '01a20391-efff-ffff-ffff-ffffffffffff',
  });
  expect(idsBeginning('')?.last).toBe('ffffffff-ffff-ffff-ffff-ffffffffffff');
  for (const none of ['report', `${id}0`, '01a203910', '%']) expect(idsBeginning(none)).toBeNull();
});
