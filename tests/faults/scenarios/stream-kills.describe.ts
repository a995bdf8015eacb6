import { describe, expect, test } from 'vitest';
import { type EventStream, openEventStream } from '../../harness/event-stream.ts';
import type { databases } from '../../harness/platform.ts';
import { adminKey } from '../../harness/process.ts';
import { Fixture, must } from './fixture.ts';

const words = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');

/** What a client shows in the end: the completed messages, and the text of those that are not void. */
const shownBy = (events: EventStream['events']): Map<string, string> => {
  const texts = new Map<string, string>();
  for (const { event, data } of events) {
    if (event === 'message.delta') {
      texts.set(data.message_id, (texts.get(data.message_id) ?? '') + data.text);
    }
    if (event === 'run.reset') for (const id of data.message_ids) texts.delete(id);
    if (event === 'message.completed') {
      const [part] = data.message.content;
      // What came before adds up to it: nothing was lost and nothing sent twice.
      expect(texts.get(data.message.id)).toBe(part.text);
    }
  }
  return texts;
};

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
      const mock = { steps: [{ tool: 'current_time' }, { text: words, delta_ms: 40 }] };
      const content = `Hello\n\nPayload (JSON):\n${JSON.stringify({ mock })}`;
      const urlOn = (replica: number, path: string) =>
        `http://127.0.0.1:${fixture.replicas[replica]!.port}/api/v2${path}/stream`;
      let takenOver = 0;
      for (const victim of victims) {
        const survivor = victims.length - 1 - victim;
        const talks = await Promise.all(
          Array.from({ length: 4 }, async () => {
            const { id } = await must(fixture.api(survivor).post(conversations, {}));
            const path = `${conversations}/${id}`;
            return {
              path,
              stream: await openEventStream(urlOn(victim, path), { key: adminKey, body: { content } }),
            };
          }),
        );
        await Promise.all(talks.map(({ stream }) => stream.find(({ event }) => event === 'message.delta')));
        await fixture.kill(victim);
        if (survivor === victim) await fixture.start(victim);
        for (const { path, stream } of talks) {
          await stream.ended.catch(() => {});
          const lastEventId = stream.events.at(-1)!.id;
          const resumed = await openEventStream(urlOn(survivor, path), { key: adminKey, lastEventId });
          await resumed.ended;
          const events = [...stream.events, ...resumed.events];
          expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i + 1));
          const { run } = events.at(-1)!.data;
          expect(run).toMatchObject({ status: 'completed', answer: words, usage: { tool_calls: 1 } });
          expect([...shownBy(events).values()]).toEqual([words]);
          takenOver += events.filter(({ event }) => event === 'run.reset').length;
        }
        if (survivor !== victim && victim !== victims.at(-1)) await fixture.start(victim);
      }
      expect(takenOver).toBeGreaterThan(0);
    }, 120_000);
  });
};
