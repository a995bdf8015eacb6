import { afterEach, expect, it, vi } from 'vitest';
import { openMigrated } from '../../tests/harness/database.ts';
import { sql } from '../database/index.ts';
import { silentLogger } from '../lib/log.ts';
import { createFirstKey } from './first-key.ts';
import { newKeyValue } from './key-format.ts';
import { Authenticator } from './keys.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('a revocation whose notification was lost takes effect after 0.9 s, even if the clock is set back', async () => {
  await using db = await openMigrated('postgres');
  const key = newKeyValue();
  await createFirstKey(db, key);
  const authenticator = new Authenticator(db, silentLogger, null);
  expect(await authenticator.authenticate(key)).toMatchObject({ role: 'admin' });
  await db.run((r) => sql`delete from api_keys`.execute(r));
  const [wall, elapsed] = [Date.now(), performance.now()];
  vi.spyOn(Date, 'now').mockReturnValue(wall - 3_600_000);
  vi.spyOn(performance, 'now').mockReturnValue(elapsed + 1_000);
  await expect(authenticator.authenticate(key)).rejects.toMatchObject({ status: 401 });
});
