import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { systemActor } from '../../src/lib/principal.ts';
import { bulkActionLoop, carryOn } from '../../src/work-items/bulk-actions/bulk-actions.ts';
import { until } from '../harness/wait.ts';
import { force } from '../harness/work-items.ts';
import { expectError, faults, newAgent, ok, onPostgres, query, unknownId } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

onPostgres((at) => {
  const path = '/work-items/actions';
  let agent: Json;
  beforeAll(async () => {
    agent = await newAgent(at(), { execution: 'external' });
  });
  const drafts = async (n: number, agentId = agent.id): Promise<string[]> => {
    const items = Array.from({ length: Math.min(n, 100) }, () => ({ agent_id: agentId, draft: true }));
    const made: string[] = [];
    while (made.length < n) {
      const { results } = await ok(
        at().api.post('/work-items/bulk', { items: items.slice(0, n - made.length) }),
      );
      made.push(...results.map((result: Json) => result.work_item.id));
    }
    return made;
  };
  const start = (body: object) => at().app.post(path, body);
  const statusesOf = async (ids: string[]): Promise<Record<string, number>> => {
    const rows = await at()
      .sql`select status, count(*)::int as n from work_items where id = any(${ids}::uuid[]) group by 1`;
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  };
  const eventsOf = (ids: string[], action: string) =>
    at()
      .sql`select principal, details from work_item_events where work_item_id = any(${ids}::uuid[]) and action = ${action}`;
  const auditsOf = (id: string) =>
    at()
      .sql`select action, target_type, principal_id, details from audits where target_id = ${id} order by id`;
  const finished = async (id: string): Promise<Json> => {
    await until(async () => (await ok(at().app.get(`${path}/${id}`))).finished_at !== null, 20_000);
    return ok(at().app.get(`${path}/${id}`));
  };

  test('a few are done before the response, each that allows it, and audited once', async () => {
    const ids = await drafts(4);
    await force(at().db, ids[1]!, 'COMPLETED');
    await force(at().db, ids[2]!, 'ERROR');
    const asked = [...ids, ids[0]!, unknownId, 'nonsense'];
    const response = await start({ action: 'cancel', ids: asked });
    expect(response.status).toBe(200);
    const refused = { COMPLETED: 1, ERROR: 1, GONE: 2 };
    const { bulk_id, created_at, finished_at, refused: why, ...rest } = response.body;
    expect(rest).toEqual({
      action: 'cancel',
      state: 'finished',
      ...{ matched: 6, done: 2, failed: 0 },
      ...{ would_change: null, cancel_requested_at: null },
    });
    expect(Object.fromEntries(why.map((r: Json) => [r.status ?? 'GONE', r.count]))).toEqual(refused);
    expect(Date.parse(finished_at)).toBeGreaterThanOrEqual(Date.parse(created_at));
    expect(await statusesOf(ids)).toEqual({ CANCELLED: 2, COMPLETED: 1, ERROR: 1 });
    const events = await eventsOf(ids, 'cancel');
    expect(events.map(({ details }) => details)).toEqual([{ bulk_id }, { bulk_id }]);
    const audits = await auditsOf(bulk_id);
    expect(audits).toMatchObject([
      {
        action: 'work_item.bulk_cancel',
        target_type: 'work_item_bulk_action',
        principal_id: events[0].principal.id,
        details: { ids: 6, matched: 6, done: 2, refused, failed: 0, cancelled: false },
      },
    ]);
    const single = sql`select 1 from audits where target_id = any(${ids}) and action = 'work_item.cancel'`;
    expect(await query(at(), single)).toEqual([]);
    expect(await ok(at().app.get(`${path}/${bulk_id}`))).toEqual(response.body);
  });

  test('many are a 202, and done in the background', async () => {
    const own = await newAgent(at(), { execution: 'external' });
    const ids = await drafts(130, own.id);
    const filter = { agent_id: own.id, status: 'DRAFT' };
    const response = await start({ action: 'submit', filter, expected_count: 130 });
    expect(response.status).toBe(202);
    expect(response.body).toMatchObject({ matched: 130, finished_at: null });
    const done = { state: 'finished', done: 130, refused: [], failed: 0 };
    expect(await finished(response.body.bulk_id)).toMatchObject(done);
    expect(await statusesOf(ids)).toEqual({ PENDING: 130 });
    expect(await eventsOf(ids, 'submit')).toHaveLength(130);
    expect(await auditsOf(response.body.bulk_id)).toMatchObject([
      {
        action: 'work_item.bulk_submit',
        details: { filter: { agent_id: [own.id], status: ['DRAFT'] }, matched: 130, done: 130 },
      },
    ]);
    await ok(at().api.delete(`/agents/${own.id}`), 204);
  });

  test('a dry run changes nothing, and says what would be done', async () => {
    const own = await newAgent(at());
    const ids = await drafts(4, own.id);
    await force(at().db, ids[0]!, 'NEEDS_REVIEW');
    await force(at().db, ids[1]!, 'NEEDS_REVIEW');
    await at().sql`update work_items set pending_approvals = '[{"kind": "tool_call"}]' where id = ${ids[1]}`;
    await force(at().db, ids[2]!, 'COMPLETED');
    const foreseen = async (action: string, more: object = {}) => {
      const { bulk_id, state, matched, would_change, refused } = await ok(
        start({ action, filter: { agent_id: [own.id] }, dry_run: true, ...more }),
      );
      expect([bulk_id, state, matched]).toEqual([null, 'dry_run', 4]);
      return [would_change, Object.fromEntries(refused.map((r: Json) => [r.status, r.count]))];
    };
    expect(await foreseen('restart')).toEqual([3, { DRAFT: 1 }]);
    expect(await foreseen('continue')).toEqual([1, { NEEDS_REVIEW: 1, COMPLETED: 1, DRAFT: 1 }]);
    expect(await foreseen('continue', { message: 'No' })).toEqual([2, { COMPLETED: 1, DRAFT: 1 }]);
    expect(await statusesOf(ids)).toEqual({ NEEDS_REVIEW: 2, COMPLETED: 1, DRAFT: 1 });
    expectError(
      await start({ action: 'restart', filter: { agent_id: own.id }, dry_run: true, expected_count: 3 }),
      412,
      /4 Work Items match now, not 3/,
      { matched: 4 },
    );
    await ok(at().api.delete(`/agents/${own.id}`), 204);
    expect(await foreseen('restart')).toEqual([0, { CANCELLED: 3, COMPLETED: 1 }]);
  });

  test('nothing is done if other ones match than the caller has seen', async () => {
    const ids = await drafts(2);
    const filter = { agent_id: agent.id, status: 'DRAFT' };
    const other = await start({ action: 'cancel', filter, expected_count: 1 });
    expectError(other, 412, /match now, not 1/, { matched: expect.any(Number) });
    const three = await start({ action: 'cancel', ids, expected_count: 3 });
    expectError(three, 412, /2 Work Items match now/, { matched: 2 });
    expect(await statusesOf(ids)).toEqual({ DRAFT: 2 });
  });

  test('continue adds the message to each; what waits for decisions without one is refused', async () => {
    const ids = await drafts(2);
    for (const id of ids) await force(at().db, id, 'NEEDS_REVIEW');
    const call = { approval_id: 'a', kind: 'tool_call', tool_name: 't', tool_call_id: 'c', arguments: {} };
    await at()
      .sql`update work_items set pending_approvals = ${JSON.stringify([call])}::jsonb where id = ${ids[1]}`;
    const one = { done: 1, refused: [{ status: 'NEEDS_REVIEW', count: 1 }] };
    expect(await ok(start({ action: 'continue', ids }))).toMatchObject(one);
    await force(at().db, ids[0]!, 'NEEDS_REVIEW');
    const both = await ok(start({ action: 'continue', ids, message: 'Go on' }));
    expect(both).toMatchObject({ done: 2, refused: [] });
    for (const id of ids) {
      const { data } = await ok(at().app.get(`/work-items/${id}/messages`));
      expect(data[0]).toMatchObject({ role: 'user', content: [{ text: 'Go on' }] });
    }
    await start({ action: 'cancel', ids });
  });

  test('restart gives each a conversation of its own', async () => {
    const ids = await drafts(3);
    for (const id of ids) await force(at().db, id, 'ERROR');
    expect(await ok(start({ action: 'restart', ids }))).toMatchObject({ done: 3 });
    const rows = await at()
      .sql`select distinct conversation_id from work_items where id = any(${ids}::uuid[])`;
    expect(rows).toHaveLength(3);
    await start({ action: 'cancel', ids });
  });

  test.each([
    [400, { action: 'cancel' }, []],
    [400, { action: 'cancel', filter: {} }, []],
    [422, { action: 'cancel', ids: [5] }, ['ids[0]']],
    [422, { action: 'cancel', ids: [unknownId], filter: {}, expected_count: 1 }, ['filter']],
    [422, { action: 'cancel', filter: { status: ['OPEN'] }, expected_count: 1 }, ['filter.status[0]']],
  ])('responds with %i to %j', async (status, body, paths) => {
    const response = await start(body);
    expectError(response, status);
    expect(faults(response)).toEqual(paths);
  });

  describe('a bulk action that is not finished', () => {
    // The loop of the platform looks every 15 s: it would now and then go on with what these tests leave.
    beforeAll(async () => {
      const loops = at().test.platform.features.list.flatMap((feature) => feature.loops ?? []);
      await loops.find((loop) => loop.pass?.().name === 'bulk actions')!.stop();
    });

    /** As a replica leaves it that is gone before its first part. */
    const left = async (ids: string[], action = 'cancel'): Promise<string> => {
      const principal = { ...systemActor.principal, id: 'p', name: 'P' };
      const actor = JSON.stringify({ ...systemActor, principal, requestId: 'r' });
      const [row] = await at()
        .sql`insert into work_item_bulk_actions (id, action, asked, actor, work_item_ids, matched)
          select new_id(), ${action}, '{}', ${actor}::jsonb, ${ids}::uuid[], ${ids.length} returning id`;
      return row.id;
    };
    /** Makes the update of a Work Item fail with this SQLSTATE, until it is called again without one. */
    const failOn = async (id: string, state: string | null): Promise<void> => {
      await at().sql`drop trigger if exists fail_on on work_items`;
      if (state === null) return;
      await query(
        at(),
        sql.raw(`create or replace function fail_on() returns trigger language plpgsql as $$
        begin raise exception 'made to fail' using errcode = '${state}'; end $$`),
      );
      await query(
        at(),
        sql.raw(`create trigger fail_on before update on work_items for each row
        when (old.id = '${id}') execute function fail_on()`),
      );
    };

    test('goes on where its replica was lost, and moves and counts each Work Item once', async () => {
      const ids = await drafts(60);
      await failOn(ids[40]!, '57P01');
      const id = await left(ids);
      expect(await carryOn(at().db, silentLogger, id)).toBe(true);
      await expect(carryOn(at().db, silentLogger, id)).rejects.toThrow();
      expect(await statusesOf(ids)).toEqual({ CANCELLED: 25, DRAFT: 35 });
      const shown = () => ok(at().app.get(`${path}/${id}`));
      expect(await shown()).toMatchObject({ state: 'running', done: 25, failed: 0 });
      await failOn(ids[40]!, null);
      while (await carryOn(at().db, silentLogger, id));
      expect(await shown()).toMatchObject({ state: 'finished', done: 60, failed: 0 });
      expect(await eventsOf(ids, 'cancel')).toHaveLength(60);
      expect(await auditsOf(id)).toMatchObject([{ principal_id: 'p', details: { done: 60 } }]);
    });

    test('goes on after a Work Item that fails', async () => {
      const ids = await drafts(3);
      await failOn(ids[1]!, 'P0001');
      const id = await left(ids);
      while (await carryOn(at().db, silentLogger, id));
      await failOn(ids[1]!, null);
      const shown = await ok(at().app.get(`${path}/${id}`));
      expect(shown).toMatchObject({ state: 'finished', done: 2, failed: 1 });
      expect(await statusesOf(ids)).toEqual({ CANCELLED: 2, DRAFT: 1 });
    });

    test('is found by the loop of another replica', async () => {
      const ids = await drafts(2);
      const id = await left(ids);
      const loop = bulkActionLoop(at().db, silentLogger).start();
      expect(await finished(id)).toMatchObject({ done: 2 });
      await loop.stop();
    });

    test('stops when it is cancelled, and is audited with what it did', async () => {
      const ids = await drafts(30);
      const id = await left(ids);
      await carryOn(at().db, silentLogger, id);
      const cancelled = await ok(at().app.post(`${path}/${id}/cancel`));
      expect(cancelled.cancel_requested_at).not.toBeNull();
      const loop = bulkActionLoop(at().db, silentLogger).start();
      expect(await finished(id)).toMatchObject({ state: 'cancelled', done: 25, matched: 30 });
      await loop.stop();
      expect(await statusesOf(ids)).toEqual({ CANCELLED: 25, DRAFT: 5 });
      expect(await auditsOf(id)).toMatchObject([
        { action: 'work_item_bulk_action.cancel' },
        { action: 'work_item.bulk_cancel', details: { done: 25, cancelled: true } },
      ]);
      await ok(at().app.post(`${path}/${id}/cancel`));
      const done = (await ok(start({ action: 'cancel', ids: ids.slice(0, 1) }))).bulk_id;
      expectError(await at().app.post(`${path}/${done}/cancel`), 412, /finished/);
    });
  });
});
