import { expect, test } from 'vitest';
import { until } from '../harness/wait.ts';
import { newAgent, ok, onEachDatabase } from './fixture.ts';
import { eventsOf, itemsOf, newHook, newTrigger, send } from './triggers-fixture.ts';

onEachDatabase((at) => {
  test('a change of a Work Item starts another one, with what it was at that moment; a chain ends at its sixth', async () => {
    const [first, second] = [
      await newAgent(at(), { execution: 'external' }),
      await newAgent(at(), { execution: 'external', name: 'second' }),
    ];
    const trigger = await newTrigger(at(), second.id, {
      kind: 'work_item',
      settings: { agent_id: first.id, statuses: ['PENDING', 'CANCELLED'] },
      mapping: { message: '{{ event.type }} {{ event.body.message }}' },
    });
    // It starts itself again and again.
    const chain = await newTrigger(at(), second.id, {
      kind: 'work_item',
      settings: { agent_id: second.id, statuses: ['PENDING'] },
      filter:
        'event.body.message == "chain" || event.body.trigger_id != null && event.body.message == "again"',
      mapping: { message: 'again' },
    });
    const item = await ok(
      at().api.post('/work-items', { agent_id: first.id, message: 'm', payload: { a: 1 } }),
    );
    await ok(at().api.post(`/work-items/${item.id}/cancel`));
    await until(async () => (await itemsOf(at(), trigger)).length === 2);
    const made = await itemsOf(at(), trigger);
    expect(made.map(({ message }) => message).sort()).toEqual([
      'work_item.cancelled m',
      'work_item.pending m',
    ]);
    const cancelled = made.find(({ message }) => message.startsWith('work_item.cancelled'));
    expect(cancelled.payload).toMatchObject({
      type: 'work_item.cancelled',
      subject: item.id,
      data: {
        id: item.id,
        agent: { id: first.id, name: 'tested' },
        status: 'CANCELLED',
        previous_status: 'PENDING',
        payload: { a: 1 },
      },
    });
    await until(async () =>
      (await eventsOf(at(), trigger)).every(({ outcome }: { outcome: string }) => outcome === 'fired'),
    );
    await ok(at().api.post('/work-items', { agent_id: second.id, message: 'chain' }));
    await until(async () => (await eventsOf(at(), chain, '?outcome=limited')).length === 1);
    expect(await eventsOf(at(), chain, '?outcome=fired')).toHaveLength(5);
    const detail = await ok(
      at().app.get(`/agents/${second.id}/triggers/${trigger.id}/events/${cancelled.occurrence_id}`),
    );
    expect(JSON.parse(detail.body)).toMatchObject({ id: item.id, status: 'CANCELLED' });
  });

  test('an event that is delivered again keeps its place in the chain', async () => {
    const hook = await newHook(at());
    const watching = await newTrigger(at(), (await newAgent(at(), { execution: 'external' })).id, {
      kind: 'work_item',
      settings: { agent_id: hook.agent_id, statuses: ['PENDING'] },
    });
    const id = await send(hook, {}, { headers: { 'agent-platform-depth': '3' } });
    await ok(at().app.post(`/agents/${hook.agent_id}/triggers/${hook.id}/events/redeliver`, { ids: [id] }));
    await until(async () => (await itemsOf(at(), watching)).length === 2);
    const depths = await at().sql`
      select w.depth from work_items w
      where w.trigger_id in (${hook.id}, ${watching.id}) order by w.depth`;
    expect(depths.map(({ depth }: { depth: number }) => depth)).toEqual([4, 4, 5, 5]);
  });

  test('what is missing for a window starts one Work Item until it is seen again, or one a window', async () => {
    const agent = await newAgent(at(), { execution: 'external' });
    const watched = await newTrigger(at(), agent.id);
    const watch = (repeat: boolean) =>
      newTrigger(at(), agent.id, {
        kind: 'absence',
        settings: { trigger_id: watched.id, window_seconds: 60, repeat },
      });
    const [once, repeating] = [await watch(false), await watch(true)];
    /** Moves the past away from now. */
    const pass = async (seconds: number) => {
      await at().sql`update triggers set due_at = due_at - ${seconds}::int * interval '1 second',
        missed_at = missed_at - ${seconds}::int * interval '1 second' where kind = 'absence'`;
      await at().sql`update trigger_events set at = at - ${seconds}::int * interval '1 second'`;
    };
    const counts = async () => [
      (await eventsOf(at(), once)).length,
      (await eventsOf(at(), repeating)).length,
    ];
    await pass(30);
    await send(watched, {});
    await pass(40);
    await until(async () => {
      const [row] = await at()
        .sql`select due_at > platform_now() as later from triggers where id = ${once.id}`;
      return row.later;
    });
    expect(await counts()).toEqual([0, 0]);
    await pass(30);
    await until(async () => (await counts()).join() === '1,1');
    const [event] = await eventsOf(at(), once);
    expect(event).toMatchObject({ outcome: 'fired', type: 'absence', event_id: event.id, deliveries: 1 });
    const [item] = await itemsOf(at(), once);
    expect(item.payload.data).toMatchObject({
      watched: { type: 'trigger', id: watched.id, name: watched.name },
      window_seconds: 60,
      last_seen_at: expect.any(String),
    });
    // A window is known by its end.
    await pass(61);
    await until(async () => (await counts()).join() === '1,2');
    await send(watched, { seen: true });
    await until(async () => {
      const [row] = await at().sql`select due_at from triggers where id = ${once.id}`;
      return row.due_at !== null;
    });
    await pass(61);
    await until(async () => (await counts()).join() === '2,3');
    await ok(at().api.delete(`/agents/${agent.id}`), 204);
  });
});
