import { expect, it } from 'vitest';
import { openMigrated } from '../../../tests/harness/database.ts';
import { createFirstKey } from './first-key.ts';
import { newKeyValue } from './key-format.ts';

it('a start that tries again after a commit without a response still shows the first key', async () => {
  await using db = await openMigrated('embedded');
  const value = newKeyValue();
  expect(await createFirstKey(db, value)).toBe(value);
  expect(await createFirstKey(db, value)).toBe(value);
  expect(await createFirstKey(db, newKeyValue())).toBeNull();
});
