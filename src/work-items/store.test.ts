import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import { cancelEverything, itemOf, later, makeAgent, makeItems } from '../../tests/harness/work-items.ts';
import type { Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { systemPrincipal } from '../lib/principal.ts';
import { type MessagePart, textPart } from '../messages/index.ts';
import { appendMessage, listConversation, listEvents, recordEvents } from './history-store.ts';
import { insertWorkItems, type NewWorkItem } from './insertion.ts';
import { deleteFinishedWorkItems, workItemsChannel } from './store.ts';

const scheduler = systemPrincipal('scheduler', 'scheduler');

const insertFired = (tx: Tx, items: readonly NewWorkItem[]) =>
  insertWorkItems(tx, items, 'PENDING', scheduler);

const firing = (agent_id: string, more: Partial<NewWorkItem> = {}): NewWorkItem => ({
  id: newId(),
  agent_id,
  schedule_id: newId(),
  occurrence: new Date('2026-03-01T08:00:00.000Z'),
  work_item_name: null,
  message: 'm',
  payload: {},
  ...more,
});

eachDatabase((_name, open) => {
  describe('a firing', () => {
    test('keeps name, message, payload and occurrence unchanged', async () => {
      const payload = JSON.parse('{"b":[1,"x\\"y",null],"a":{"__proto__":{"c":true}},"é":"{,}"}');
      const item = firing(await makeAgent(open()), { work_item_name: 'N, "{}"', message: 'a\nb', payload });
      expect(await open().tx((tx) => insertFired(tx, [item]))).toEqual([item.id]);
      const { id, agent_id, schedule_id } = item;
      const stored = await itemOf(open(), id);
      expect(stored).toMatchObject({
        id,
        agent_id,
        schedule_id,
        work_item_name: 'N, "{}"',
        message: 'a\nb',
        status: 'PENDING',
        created_by: 'scheduler',
      });
      expect(JSON.stringify(stored.payload)).toBe(
        JSON.stringify(JSON.parse('{"a":{"__proto__":{"c":true}},"b":[1,"x\\"y",null],"é":"{,}"}')),
      );
    });

    test('creates one Work Item for an occurrence, however often and by however many it is fired', async () => {
      const agent = await makeAgent(open());
      const schedules = Array.from({ length: 50 }, () => newId());
      const batches = await Promise.all(
        Array.from({ length: 6 }, () =>
          open().tx((tx) =>
            insertFired(
              tx,
              schedules.map((schedule_id) => firing(agent, { schedule_id })),
            ),
          ),
        ),
      );
      expect(batches.flat()).toHaveLength(50);
      const { rows } = await open().run((executor) =>
        sql<{ id: string }>`select i.id from work_items i join work_item_events e on e.work_item_id = i.id
          where i.agent_id = ${agent}`.execute(executor),
      );
      expect(new Set(rows.map((row) => row.id))).toEqual(new Set(batches.flat()));
      expect(rows).toHaveLength(50);
    });

    test('leaves out the second of two equal occurrences in one batch', async () => {
      const agent = await makeAgent(open());
      const schedule_id = newId();
      const twice = [firing(agent, { schedule_id }), firing(agent, { schedule_id })];
      expect(await open().tx((tx) => insertFired(tx, twice))).toEqual([twice[0]!.id]);
    });

    test('of a thousand Work Items works at once', async () => {
      const agent = await makeAgent(open());
      const items = Array.from({ length: 1_000 }, () => firing(agent));
      expect(await open().tx((tx) => insertFired(tx, items))).toHaveLength(1_000);
      await cancelEverything(open());
    });

    test('of nothing does nothing', async () => {
      expect(await open().tx((tx) => insertFired(tx, []))).toEqual([]);
    });

    test('wakes the workers when it is committed', async () => {
      const notified: (string | null)[] = [];
      open().listen(workItemsChannel, (payload) => notified.push(payload));
      const agent = await makeAgent(open());
      await until(async () => {
        await open().tx((tx) => insertFired(tx, [firing(agent)]));
        return notified.length > 0;
      });
    });
  });

  test('each conversation keeps its messages in order', async () => {
    const [item] = await makeItems(open(), await makeAgent(open()), 1);
    const other = newId();
    const say = (conversation_id: string, content: MessagePart[]) =>
      open().tx((tx) =>
        appendMessage(tx, { work_item_id: item!.id, conversation_id, role: 'user', content }),
      );
    const said = [[textPart('one')], [textPart('two'), textPart('three')], []];
    for (const content of said) await say(item!.conversation_id, content);
    await say(other, [textPart('elsewhere')]);
    const contents = async (conversation: string) =>
      (await open().run((executor) => listConversation(executor, item!.id, conversation))).map(
        (m) => m.content,
      );
    expect(await contents(item!.conversation_id)).toEqual(said);
    expect(await contents(other)).toEqual([[textPart('elsewhere')]]);
  });

  describe('retention', () => {
    const finished = async (n: number) => {
      const items = await makeItems(open(), await makeAgent(open()), n);
      await open().tx(async (tx) => {
        for (const { id, conversation_id } of items) {
          await appendMessage(tx, {
            work_item_id: id,
            conversation_id,
            role: 'user',
            content: [textPart('x')],
          });
          await sql`update work_items set status = 'COMPLETED', finished_at = platform_now()
            where id = ${id}`.execute(tx);
        }
      });
      return items;
    };
    const days = (n: number) => n * 86_400;

    test('deletes at most `limit` Work Items that finished that many days ago, with their messages and events', async () => {
      const items = await finished(3);
      const [open1] = await makeItems(open(), await makeAgent(open()), 1);
      expect(await later(open(), days(89), (tx) => deleteFinishedWorkItems(tx, 90, 100))).toBe(0);
      expect(await later(open(), days(91), (tx) => deleteFinishedWorkItems(tx, 90, 2))).toBe(2);
      expect(await later(open(), days(91), (tx) => deleteFinishedWorkItems(tx, 90, 100))).toBe(1);
      expect(await later(open(), days(91), (tx) => deleteFinishedWorkItems(tx, 90, 100))).toBe(0);
      for (const { id, conversation_id } of items) {
        expect(await itemOf(open(), id)).toBeUndefined();
        const page = { limit: 1, next: null };
        expect(await open().run((executor) => listEvents(executor, id, page))).toEqual([]);
        expect(await open().run((executor) => listConversation(executor, id, conversation_id))).toEqual([]);
      }
      expect((await itemOf(open(), open1!.id)).status).toBe('PENDING');
    });

    test('of 0 days keeps all', async () => {
      const [item] = await finished(1);
      expect(await later(open(), days(9_999), (tx) => deleteFinishedWorkItems(tx, 0, 100))).toBe(0);
      expect(await itemOf(open(), item!.id)).toBeDefined();
    });
  });

  test('the events of one transaction stay in the order in which they were written', async () => {
    const [item] = await makeItems(open(), await makeAgent(open()), 1);
    const { id } = item!;
    await open().tx(async (tx) => {
      for (const action of ['a', 'b', 'c']) {
        const who = { kind: 'system', id: 'x', name: 'x' } as const;
        await recordEvents(tx, { action, principal: who, moved: [{ id, from: 'PENDING', to: 'PENDING' }] });
      }
    });
    const events = await open().run((executor) => listEvents(executor, id, { limit: 10, next: null }));
    expect(events.map((event) => event.action)).toEqual(['c', 'b', 'a', 'create']);
  });
});
