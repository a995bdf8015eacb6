import { describe, expect, test } from 'vitest';
import { newConversation, scripted } from './conversations-fixture.ts';
import { expectError, ok, onPostgres, uuid } from './fixture.ts';

describe('runs of conversations', () =>
  onPostgres((at) => {
    test('a message is replied to, and the reply is stored with what came before it', async () => {
      const talk = await newConversation(at());
      const run = await talk.send({ content: 'What time is it?' });
      expect(run).toMatchObject({
        id: expect.stringMatching(uuid),
        conversation_id: talk.id,
        status: 'completed',
        error: null,
        pending_approvals: [],
        model: 'mock',
        usage: { model_calls: 2, tool_calls: 1 },
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      expect(run.answer).toMatch(/answer to: What time is it\?/);
      const roles = run.messages.map(({ role }: { role: string }) => role);
      expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant']);
      const idle = { name: 'What time is it?', status: 'idle', active_run_id: null, message_count: 4 };
      expect(await talk.get()).toMatchObject(idle);
      const { data } = await ok(at().api.get(`${talk.path}/messages`));
      expect(data.toReversed()).toEqual(run.messages);
      const second = await talk.send({ content: [{ type: 'text', text: 'And now?' }] });
      expect(second.messages).toHaveLength(4);
      expect((await talk.get()).message_count).toBe(8);
    });

    test('one run at a time: a second message is a 412 that names the run, and cancel ends it at once', async () => {
      const talk = await newConversation(at());
      const run = await talk.send({ content: scripted({ delay_ms: 60_000 }), wait_seconds: 0 });
      expect(['queued', 'running']).toContain(run.status);
      const again = await at().api.post(`${talk.path}/messages`, { content: 'again' });
      expectError(again, 412, /in progress/, { status: 'running', run_id: run.id });
      const cancelled = await ok(at().api.post(`${talk.path}/cancel`));
      expect(cancelled).toMatchObject({
        id: run.id,
        status: 'cancelled',
        answer: null,
        finished_at: expect.any(String),
      });
      expectError(await at().api.post(`${talk.path}/cancel`), 412, /./, {
        status: 'idle',
        pending_approvals: [],
      });
      expect(await talk.send({ content: 'Hello' })).toMatchObject({ status: 'completed' });
    });

    test('a failure is a 200 with its error', async () => {
      const talk = await newConversation(at());
      const run = await talk.send({ content: scripted({ steps: 'wrong' }) });
      expect(run).toMatchObject({ status: 'error', answer: null, error: { code: 'model_refused' } });
    });

    test('the events of a run come in order, numbered without gaps, and its deltas add up to the message', async () => {
      const talk = await newConversation(at());
      const stream = await talk.stream({ content: 'Hello' });
      expect(stream.status).toBe(200);
      expect(Object.fromEntries(stream.headers)).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      });
      await stream.ended;
      expect(stream.text().startsWith('retry: 2000\n\n')).toBe(true);
      const { events } = stream;
      expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i + 1));
      const kinds = events.map(({ event }) => event).filter((event, i, all) => event !== all[i - 1]);
      expect(kinds).toEqual([
        'run.started',
        'message.delta',
        'message.completed',
        'tool.started',
        'tool.completed',
        'message.delta',
        'message.completed',
        'run.completed',
      ]);
      for (const { data } of events.filter(({ event }) => event === 'message.completed')) {
        const deltas = events.filter(
          ({ event, data: d }) => event === 'message.delta' && d.message_id === data.message.id,
        );
        expect(deltas.map(({ data: d }) => d.text).join('')).toBe(data.message.content[0].text);
      }
      const { run } = events.at(-1)!.data;
      expect(run).toMatchObject({ status: 'completed', conversation_id: talk.id });
      expect((await talk.follow()).status).toBe(204);
      expect((await talk.follow(events.length)).status).toBe(204);
      const replayed = await talk.follow(2);
      await replayed.ended;
      expect(replayed.events.map(({ id, event, data }) => ({ id, event, data }))).toEqual(
        events.slice(2).map(({ id, event, data }) => ({ id, event, data })),
      );
    });
  }));
