import { describe, expect, test } from 'vitest';
import type { databases } from '../../harness/database.ts';
import { openEventStream } from '../../harness/event-stream.ts';
import { adminKey } from '../../harness/process.ts';
import { Fixture, must } from './fixture.ts';
import { askForWords, expectWords } from './streams.ts';

const mostKills = 8;

/** Kills each of `victims`, which are all the replicas, while conversations stream from it. */
export const describeStreamKills = (
  name: string,
  database: (typeof databases)[number],
  victims: readonly number[],
): void => {
  describe('a replica that is killed while it streams', () => {
    test(`loses nothing (${name}): the client resumes, and the run goes on`, async () => {
      await using fixture = await Fixture.open(database, victims.length);
      await Promise.all(victims.map((replica) => fixture.start(replica)));
      const api = fixture.api();
      await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 2 }));
      const agent = await must(api.post('/agents', { name: 'Talker', mode: 'conversational' }));
      const conversations = `/agents/${agent.id}/conversations`;
      const urlOn = (replica: number, path: string) =>
        `http://127.0.0.1:${fixture.replicas[replica]!.port}/api/v2${path}/stream`;
      let takenOver = 0;
      let down: number | null = null;
      // Either replica may run a conversation, so it can happen that none runs where it is streamed from.
      for (let n = 0; n < victims.length || (takenOver === 0 && n < mostKills); n++) {
        if (down !== null) await fixture.start(down);
        const victim = victims[n % victims.length]!;
        const survivor = victims.length - 1 - victim;
        const talks = await Promise.all(
          Array.from({ length: 4 }, async () => {
            const { id } = await must(fixture.api(survivor).post(conversations, {}));
            const path = `${conversations}/${id}`;
            return {
              path,
              stream: await openEventStream(urlOn(victim, path), {
                key: adminKey,
                body: { content: askForWords },
              }),
            };
          }),
        );
        await Promise.all(talks.map(({ stream }) => stream.find(({ event }) => event === 'message.delta')));
        await fixture.kill(victim);
        if (survivor === victim) await fixture.start(victim);
        else down = victim;
        for (const { path, stream } of talks) {
          await stream.ended.catch(() => {});
          const lastEventId = stream.events.at(-1)!.id;
          const resumed = await openEventStream(urlOn(survivor, path), { key: adminKey, lastEventId });
          await resumed.ended;
          const events = [...stream.events, ...resumed.events];
          expectWords(events);
          takenOver += events.filter(({ event }) => event === 'run.reset').length;
        }
      }
      expect(takenOver).toBeGreaterThan(0);
    }, 400_000);
  });
};
