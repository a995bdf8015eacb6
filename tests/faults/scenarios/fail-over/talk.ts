import { openEventStream } from '../../../harness/event-stream.ts';
import { adminKey } from '../../../harness/process.ts';
import { type Fixture, must } from '../fixture.ts';
import { askForWords, expectWords } from '../streams.ts';

/**
 * Begins a conversation whose answer streams through replica `i`. The result follows it to its end, through the replicas in
 * turn, and checks each event.
 */
export const beginTalk = async (
  fixture: Fixture,
  agentId: string,
  i: number,
): Promise<() => Promise<void>> => {
  const other = fixture.api((i + 1) % fixture.replicas.length);
  const { id } = await must(other.post(`/agents/${agentId}/conversations`, {}));
  const path = `/agents/${agentId}/conversations/${id}`;
  const urlOn = (n: number) =>
    `http://127.0.0.1:${fixture.replicas[n % fixture.replicas.length]!.port}/api/v2${path}/stream`;
  const talk = await openEventStream(urlOn(i), { key: adminKey, body: { content: askForWords } });
  await talk.find(({ event }) => event === 'message.delta');
  return async () => {
    await talk.ended.catch(() => {});
    const got = [...talk.events];
    for (let n = 0; got.at(-1)!.event !== 'run.completed' && n < 10; n++) {
      const resumed = await openEventStream(urlOn(n), { key: adminKey, lastEventId: got.at(-1)!.id });
      await resumed.ended.catch(() => {});
      got.push(...resumed.events);
    }
    expectWords(got);
  };
};
