import { expect, it } from 'vitest';
import { eachDatabase } from '../../../tests/harness/database.ts';
import { sql } from '../../database/index.ts';
import { createFirstKey } from './first-key.ts';
import { newKeyValue } from './key-format.ts';
import { touchKey } from './store.ts';

eachDatabase((_name, open) => {
  it('the last use of a key is written at most once a minute, whichever replica writes', async () => {
    const db = open();
    await createFirstKey(db, newKeyValue());
    const uses = async () =>
      (await db.run((r) => r.selectFrom('api_keys').select(['id', 'last_used_ip']).execute()))[0]!;
    const { id } = await uses();
    const useFrom = async (ip: string) => {
      await db.run((executor) => touchKey(executor, id, ip));
      return (await uses()).last_used_ip;
    };
    const age = (by: string) =>
      db.run((r) => sql`update api_keys set last_used_at = last_used_at - ${by}::interval`.execute(r));
    expect(await useFrom('192.0.2.1')).toBe('192.0.2.1');
    await age('55 seconds');
    expect(await useFrom('192.0.2.2')).toBe('192.0.2.1');
    await age('6 seconds');
    expect(await useFrom('192.0.2.3')).toBe('192.0.2.3');
  });
});
