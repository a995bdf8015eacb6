import { describe, expect, test } from 'vitest';
import type { EventStream } from '../harness/event-stream.ts';
import { protocols, startProvider } from '../harness/providers/index.ts';
import { until } from '../harness/wait.ts';
import { newConversation, newTalker, scripted } from './conversations-fixture.ts';
import { expectError, type Fixture, newKey, ok, onEachDatabase, useReplicas } from './fixture.ts';

const words = (n: number) => Array.from({ length: n }, (_, i) => `word${i}`).join(' ');

/** A reply of `n` words, one every `ms` milliseconds. */
const slowly = (n: number, ms: number) => scripted({ steps: [{ text: words(n), delta_ms: ms }] });

const contentOf = ({ events }: EventStream) => events.map(({ id, event, data }) => ({ id, event, data }));

const deltasOf = ({ events }: EventStream) =>
  events.filter(({ event }) => event === 'message.delta').map(({ data }) => data.text);

const numbered = ({ events }: EventStream, from = 1): void =>
  expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => from + i));

describe('streams of a conversation', () =>
  onEachDatabase((at, database) => {
    test('the first text is sent at once, and the rest is gathered for a moment', async () => {
      const talk = await newConversation(at());
      const stream = await talk.stream({ content: slowly(60, 10) });
      await stream.ended;
      numbered(stream);
      const deltas = deltasOf(stream);
      expect(deltas[0]).toBe('word0 ');
      expect(deltas.length).toBeGreaterThan(1);
      // Not one for each word, however slow they come.
      expect(deltas.length).toBeLessThan(60);
      expect(deltas.join('')).toBe(words(60));
    });

    test('a long text is sent in parts of 2 KB that end between characters', async () => {
      const talk = await newConversation(at());
      const text = '🙂é'.repeat(1_500);
      const stream = await talk.stream({ content: scripted({ steps: [{ text }] }) });
      await stream.ended;
      const deltas = deltasOf(stream);
      expect(deltas.join('')).toBe(text);
      expect(Math.max(...deltas.map((delta) => Buffer.byteLength(delta)))).toBeLessThanOrEqual(2_048);
    });

    test('the text of a model that another one takes over from is void', async () => {
      const protocol = protocols.openai_compatible!;
      await using broken = await startProvider(protocol, () => ({ fail: 'cut' }));
      await using sound = await startProvider(protocol, () => ({ text: 'From the beginning.' }));
      const ids: string[] = [];
      for (const { url } of [broken, sound]) {
        const { kind, model, settings } = protocol;
        const llm = { kind, name: 'L', model, base_url: url, ...settings };
        ids.push((await ok(at().api.post('/llm-configurations', llm))).id);
      }
      const talker = await newTalker(at(), { llm_id: ids[0], fallback_llm_ids: ids.slice(1) });
      const talk = await newConversation(at(), { agentId: talker.id });
      const stream = await talk.stream({ content: 'Hello' });
      await stream.ended;
      numbered(stream);
      const of = (type: string) =>
        stream.events.filter(({ event }) => event === type).map(({ data }) => data);
      const [first] = of('message.delta');
      expect(of('run.reset')).toMatchObject([{ attempt: 1, message_ids: [first.message_id] }]);
      const [{ message }] = of('message.completed');
      expect(message.id).not.toBe(first.message_id);
      const rest = of('message.delta').filter(({ message_id }) => message_id === message.id);
      // The reset comes before the text of the other model.
      const typesUntilThen = stream.events.slice(0, 4).map(({ event }) => event);
      expect(typesUntilThen).toEqual(['run.started', 'message.delta', 'run.reset', 'message.delta']);
      expect(rest.map(({ text }) => text).join('')).toBe('From the beginning.');
      expect(of('run.completed')[0].run).toMatchObject({
        status: 'completed',
        answer: 'From the beginning.',
      });
    });

    test('a disconnect cancels nothing, and a client resumes where it was', async () => {
      const talk = await newConversation(at());
      const stream = await talk.stream({ content: slowly(60, 20) });
      const { id } = await stream.find(({ event }) => event === 'message.delta');
      stream.close();
      const active = await talk.follow();
      const resumed = await talk.follow(id);
      const late = await talk.follow(999_999);
      await Promise.all([resumed.ended, active.ended, late.ended]);
      numbered(active);
      numbered(resumed, id + 1);
      expect(contentOf(resumed)).toEqual(contentOf(active).slice(id));
      expect(late.events.at(-1)!.event).toBe('run.completed');
      expect(active.events.at(-1)!.data.run.status).toBe('completed');
      const byQuery = await ok(at().api.get(`${talk.path}/messages`));
      expect(byQuery.data).toHaveLength(2);
    });

    test('an id inside an older run is resumed to the end of the last one', async () => {
      const talk = await newConversation(at());
      for (const content of ['one', 'two', 'three']) await talk.send({ content });
      const all = await talk.follow(0);
      await all.ended;
      numbered(all);
      expect(all.events.filter(({ event }) => event === 'run.completed')).toHaveLength(3);
      const part = await talk.follow(3);
      await part.ended;
      expect(contentOf(part)).toEqual(contentOf(all).slice(3));
    });

    test('deltas are not sent a minute after their message, and other events not after a day', async () => {
      const talk = await newConversation(at());
      const stream = await talk.stream({ content: 'Hello' });
      await stream.ended;
      const later = (seconds: number) =>
        at()
          .sql`update stream_events set remove_at = remove_at - make_interval(secs => ${seconds}) where scope = ${talk.id}`;
      await later(30);
      expect(contentOf(await allOf(talk.follow(0)))).toEqual(contentOf(stream));
      await later(31);
      const left = contentOf(stream).filter(({ event }) => event !== 'message.delta');
      expect(contentOf(await allOf(talk.follow(0)))).toEqual(left);
      await later(86_400);
      expect((await talk.follow(0)).status).toBe(204);
    });

    test('a run that waits for a person longer than a day has nothing to send', async () => {
      const talk = await newConversation(at());
      const review = { tool: 'request_review', args: { reason: 'Sure?' } };
      const run = await talk.send({ content: scripted({ steps: [review] }) });
      expect(run.status).toBe('needs_review');
      expect((await allOf(talk.follow())).events.at(-1)!.event).toBe('run.completed');
      await at().sql`update stream_events set remove_at = platform_now() where scope = ${talk.id}`;
      expect((await talk.follow()).status).toBe(204);
      expect((await talk.follow(0)).status).toBe(204);
    });

    test('a reply that is lost with its attempt is void, and the next attempt goes on with what is stored', async () => {
      const talk = await newConversation(at());
      const steps = [{ tool: 'current_time' }, { text: words(40), delta_ms: 50 }];
      const content = scripted({ steps });
      const stream = await talk.stream({ content });
      const { data } = await stream.find(({ event }) => event === 'message.delta');
      await at().sql`update conversation_runs set fencing = fencing + 1,
          lease_expires_at = platform_now() - interval '1 second' where id = ${data.run_id}`;
      await at().sql`select pg_notify('conversation_runs', '')`;
      await stream.ended;
      numbered(stream);
      const reset = stream.events.find(({ event }) => event === 'run.reset')!;
      expect(reset.data).toMatchObject({ attempt: 2, message_ids: [data.message_id] });
      const { run } = stream.events.at(-1)!.data;
      expect(run).toMatchObject({ status: 'completed', answer: words(40), usage: { tool_calls: 1 } });
      const completed = stream.events.filter(({ event }) => event === 'message.completed');
      expect(completed).toHaveLength(2);
      const ofLast = stream.events.filter(
        ({ event, data: d }) => event === 'message.delta' && d.message_id === completed[1]!.data.message.id,
      );
      expect(ofLast.map(({ data: d }) => d.text).join('')).toBe(words(40));
    });

    test('a cancel and a delete end the streams at once', async () => {
      const talk = await newConversation(at());
      const stream = await talk.stream({ content: slowly(1_000, 50) });
      await stream.find(({ event }) => event === 'message.delta');
      // The run would take 50 s.
      const began = performance.now();
      await ok(at().api.post(`${talk.path}/cancel`));
      await stream.ended;
      expect(performance.now() - began).toBeLessThan(30_000);
      expect(stream.events.at(-1)!.data.run.status).toBe('cancelled');
      expect(stream.events.at(-2)!.event).toBe('run.reset');
      const again = await talk.stream({ content: slowly(1_000, 50) });
      await again.find(({ event }) => event === 'message.delta');
      const deleted = performance.now();
      await ok(at().api.delete(talk.path), 204);
      await again.ended.catch(() => {});
      expect(performance.now() - deleted).toBeLessThan(30_000);
    });

    test.each([
      ['its key is revoked', (key: string) => at().api.delete(`/api-keys/${key}`)],
      [
        'its role no longer sees the conversation',
        (key: string) => at().sql`update api_keys set role = 'member' where id = ${key}`,
      ],
    ])('a stream is cut off before its run ends when %s', async (_why, end) => {
      const talk = await newConversation(at());
      const key = await newKey(at(), 'builder');
      await talk.send({ content: scripted({ delay_ms: 60_000 }), wait_seconds: 0 });
      const url = `${at().test.origin}/api/v2${talk.path}/stream`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${key.value}` } });
      const reading = (async () => {
        for await (const _ of response.body!);
      })();
      const cut = expect(reading).rejects.toThrow();
      const began = performance.now();
      await end(key.id);
      await cut;
      expect(performance.now() - began).toBeLessThan(30_000);
      await ok(at().api.post(`${talk.path}/cancel`));
    });

    test('one key has at most 100 open streams', async () => {
      const talk = await newConversation(at());
      const { value } = await newKey(at(), 'builder');
      await talk.send({ content: scripted({ delay_ms: 60_000 }), wait_seconds: 0 });
      const url = `${at().test.origin}/api/v2${talk.path}/stream`;
      const gone = new AbortController();
      const open = () => fetch(url, { headers: { authorization: `Bearer ${value}` }, signal: gone.signal });
      const opened = await Promise.all(Array.from({ length: 100 }, open));
      expect(opened.map(({ status }) => status)).toEqual(Array(100).fill(200));
      const refused = await at().as(value).get(`${talk.path}/stream`);
      expectError(refused, 429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const other = await talk.follow();
      expect(other.status).toBe(200);
      gone.abort();
      const isFree = async () => {
        const again = new AbortController();
        const headers = { authorization: `Bearer ${value}` };
        const { status } = await fetch(url, { headers, signal: again.signal });
        again.abort();
        return status === 200;
      };
      await until(isFree);
      await ok(at().api.post(`${talk.path}/cancel`));
      await other.ended;
    });

    // It waits for 15 s, and the stream does not know which database it is.
    test.runIf(database === 'embedded')('nothing comes for 15 s: a comment is sent', async () => {
      const talk = await newConversation(at());
      await talk.send({ content: scripted({ delay_ms: 60_000 }), wait_seconds: 0 });
      const stream = await talk.follow();
      await until(async () => stream.comments.length > 0, 17_000, 100);
      await ok(at().api.post(`${talk.path}/cancel`));
      await stream.ended;
      expect(stream.events.map(({ event }) => event)).toEqual(['run.started', 'run.completed']);
    });
  }));

const allOf = async (opening: Promise<EventStream>): Promise<EventStream> => {
  const stream = await opening;
  await stream.ended;
  return stream;
};

describe('streams of a conversation on two replicas', () => {
  let a: Fixture;
  let b: Fixture;
  useReplicas((...replicas) => {
    [a, b] = replicas;
  });

  test('a client resumes on the other replica, with the same events under the same ids', async () => {
    const { id: agentId } = await newTalker(a);
    const talk = await newConversation(a, { agentId });
    const stream = await talk.stream({ content: slowly(100, 20) });
    const { id } = await stream.find(({ id }) => id === 3);
    const resumed = await talk.follow(id, b);
    const active = await talk.follow(undefined, b);
    await Promise.all([stream.ended, resumed.ended, active.ended]);
    numbered(stream);
    expect(contentOf(active)).toEqual(contentOf(stream));
    expect(contentOf(resumed)).toEqual(contentOf(stream).slice(id));
    expect(contentOf(await allOf(talk.follow(0, b)))).toEqual(contentOf(stream));
  });

  test('a message that waits on one replica returns when the run ends on another, also without notifications', async () => {
    const talk = await newConversation(a);
    const began = performance.now();
    const sent = talk.send({ content: slowly(10, 200) });
    await until(async () => (await talk.get()).status === 'running');
    expect((await b.api.post(`${talk.path}/messages`, { content: 'x' })).status).toBe(412);
    expect(await sent).toMatchObject({ status: 'completed', answer: words(10) });
    // Unless it notices, it would wait for two minutes.
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});
