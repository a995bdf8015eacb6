import { expect, test } from 'vitest';
import { onPostgres } from '../../tests/harness/database.ts';
import { makeAgent, makeItems } from '../../tests/harness/work-items.ts';
import { sql } from '../database/index.ts';
import { silentLogger } from '../lib/log.ts';
import { WaitingRoom } from './waiting-room.ts';

onPostgres((_name, open) => {
  test('a caller that leaves while something is claimed for it leaves that to the next one', async () => {
    const agent = await makeAgent(open());
    await open().tx((tx) => sql`update agents set execution = 'external' where id = ${agent}`.execute(tx));
    await makeItems(open(), agent, 1);
    const room = new WaitingRoom(open(), silentLogger, () => {});
    const milliseconds = 5_000;
    const leaving = new AbortController();
    const first = room.wait<string>({
      agentIds: [agent],
      // As a claim that is rolled back, because its caller is gone.
      attempt: async () => {
        leaving.abort();
        return [];
      },
      signal: leaving.signal,
      milliseconds,
    });
    const attempt = async () => ['what was claimed'];
    const second = room.wait({
      agentIds: [agent],
      attempt,
      signal: new AbortController().signal,
      milliseconds,
    });
    room.start();
    expect(await first).toEqual([]);
    expect(await second).toEqual(['what was claimed']);
    await room.stop();
  });
});
