import { describe, expect, test } from 'vitest';
import { openEventStream } from '../harness/event-stream.ts';
import { adminKey } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { expectError, faults, newAgent, ok, onEachDatabase, unknownId } from './fixture.ts';

describe('the stream of a Work Item', () =>
  onEachDatabase((at) => {
    const create = async (steps?: object[], fields: object = {}) => {
      const agent = await newAgent(at());
      const payload = steps ? { mock: { steps } } : {};
      const { id } = await ok(at().api.post('/work-items', { agent_id: agent.id, payload, ...fields }));
      const path = `/work-items/${id}`;
      const follow = (lastEventId?: number) =>
        openEventStream(`${at().test.origin}/api/v2${path}/stream`, { key: adminKey, lastEventId });
      const becomes = (status: string) =>
        until(async () => (await ok(at().api.get(path))).status === status, 10_000);
      return { id, path, follow, becomes };
    };

    test('tells what happens until it is finished, and again under the same ids', async () => {
      const item = await create([
        { text: 'Look.', tool: 'current_time', delay_ms: 1_000 },
        { text: 'Done.' },
      ]);
      const stream = await item.follow();
      expect(stream.status).toBe(200);
      expect(stream.headers.get('content-type')).toBe('text/event-stream');
      await stream.ended;
      const { events } = stream;
      expect(stream.text().startsWith('retry: 2000\n\n')).toBe(true);
      expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i + 1));
      expect(
        events.map(({ event, data }) => [event, data.status ?? data.tool_name ?? data.message?.role]),
      ).toEqual([
        ['work_item.updated', 'PENDING'],
        ['work_item.updated', 'EXECUTING'],
        ['message.completed', 'assistant'],
        ['tool.started', 'current_time'],
        ['tool.completed', 'current_time'],
        ['message.completed', 'assistant'],
        ['work_item.updated', 'COMPLETED'],
      ]);
      expect(events[0]!.data).toEqual({
        run_id: item.id,
        at: expect.any(String),
        status: 'PENDING',
        allowed_actions: ['cancel'],
      });
      expect(events[4]!.data).toMatchObject({ is_error: false, duration_ms: expect.any(Number) });
      const resumed = await item.follow(3);
      await resumed.ended;
      expect(resumed.events.map(({ id, event, data }) => ({ id, event, data }))).toEqual(
        events.slice(3).map(({ id, event, data }) => ({ id, event, data })),
      );
      expect((await item.follow(events.length)).status).toBe(204);
    });

    test('says what a person is asked, and goes on when it is continued', async () => {
      const item = await create([{ tool: 'request_review', args: { reason: 'Sure?' } }, { text: 'Done.' }]);
      await item.becomes('NEEDS_REVIEW');
      const stream = await item.follow();
      const { data } = await stream.find(({ event }) => event === 'approval.requested');
      expect(data.approvals).toMatchObject([{ kind: 'question', reason: 'Sure?' }]);
      await ok(at().api.post(`${item.path}/continue`, { message: 'Yes' }));
      await stream.ended;
      expect(stream.events.map(({ id }) => id)).toEqual(stream.events.map((_, i) => i + 1));
      expect(stream.events.at(-1)!.data.status).toBe('COMPLETED');
    });

    test('is in v2 only, for Work Items that exist, with ids of digits', async () => {
      const draft = await create(undefined, { draft: true });
      expectError(await at().api.get(`/work-items/${unknownId}/stream`), 404);
      expectError(await at().as(adminKey, '/api/v1').get(`${draft.path}/stream`), 404);
      expect(
        faults(await at().api.get(`${draft.path}/stream`, { headers: { 'last-event-id': 'x' } })),
      ).toEqual(['Last-Event-ID']);
      const stream = await draft.follow();
      await stream.find(({ data }) => data.status === 'DRAFT');
      await ok(at().api.post(`${draft.path}/cancel`));
      await stream.ended;
      expect(stream.events.at(-1)!.data).toMatchObject({ status: 'CANCELLED', allowed_actions: ['restart'] });
    });
  }));
