import { expect, test } from 'vitest';
import { openMigrated } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import { notify } from './index.ts';

test('on PostgreSQL a listener is called when it begins to listen, because it missed what was sent before', async () => {
  await using db = await openMigrated('postgres');
  const received: (string | null)[] = [];
  db.listen('anything', (payload) => void received.push(payload));
  await until(() => received.length > 0);
  await db.tx((tx) => notify(tx, 'anything', 'sent'));
  await until(() => received.includes('sent'));
  expect(received).toEqual([null, 'sent']);
});
