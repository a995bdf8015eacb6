import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { force } from '../harness/work-items.ts';
import { expectError, newAgent, newKey, ok, onPostgres, unknownId } from './fixture.ts';

onPostgres((at) => {
  let agent: { id: string };
  beforeAll(async () => {
    agent = await newAgent(at());
  });
  const draft = (more: object = {}) => ({ agent_id: agent.id, draft: true, ...more });
  const bulk = (items: unknown, options = {}) => at().api.post('/work-items/bulk', { items }, options);

  describe('POST /work-items/bulk', () => {
    test('creates all in their order, like single creates', async () => {
      const { results } = await ok(
        bulk([draft({ message: 'a' }), draft({ message: 'b', payload: { n: 1 } })]),
      );
      expect(results.map((r: { index: number }) => r.index)).toEqual([0, 1]);
      expect(results.map((r: { work_item: { message: string } }) => r.work_item.message)).toEqual(['a', 'b']);
      expect(await ok(at().api.get(`/work-items/${results[1].work_item.id}`))).toEqual(results[1].work_item);
      const audits = await at()
        .sql`select 1 from audits where target_id = ${results[0].work_item.id} and action = 'work_item.create'`;
      expect(audits).toHaveLength(1);
    });

    test('each bad one has the error of its single create, and the others are created', async () => {
      const conversational = await newAgent(at(), { mode: 'conversational' });
      const bad: [unknown, string][] = [
        [{ draft: true }, 'bad_request'],
        [draft({ agent_id: unknownId }), 'not_found'],
        [draft({ agent_id: conversational.id }), 'bad_request'],
        [draft({ message: 5 }), 'unprocessable_entity'],
        [draft({ message: 'a\u0000b' }), 'unprocessable_entity'],
        [draft({ work_item_name: '\ud800' }), 'unprocessable_entity'],
        [draft({ payload: { b: 'x'.repeat(102_400) } }), 'bad_request'],
        [draft({ callbacks: [{ url: 'ftp://x' }] }), 'unprocessable_entity'],
        [null, 'unprocessable_entity'],
        ['text', 'unprocessable_entity'],
        [[], 'unprocessable_entity'],
      ];
      const { results } = await ok(bulk([draft(), ...bad.map(([item]) => item), draft({ message: 'last' })]));
      expect(results[0].work_item.status).toBe('DRAFT');
      expect(results.at(-1)).toMatchObject({ index: bad.length + 1, work_item: { message: 'last' } });
      expect(results.slice(1, -1).map((r: { error: { code: string } }) => r.error.code)).toEqual(
        bad.map(([, code]) => code),
      );
      for (const { error, work_item } of results.slice(1, -1)) {
        expect(work_item).toBeUndefined();
        expect(error.error_id).toMatch(/^[0-9a-f-]{36}$/);
      }
    });

    test('with one Idempotency-Key creates them once', async () => {
      const options = { headers: { 'idempotency-key': newId() } };
      const items = [draft(), draft({ message: 5 })];
      const all = await Promise.all([1, 2, 3].map(() => ok(bulk(items, options))));
      expect(all[1]).toEqual(all[0]);
      expect(all[2]).toEqual(all[0]);
      expectError(await bulk([draft()], options), 422);
    });

    test('takes 100 and refuses 101', async () => {
      expect((await ok(bulk(Array.from({ length: 100 }, () => draft())))).results).toHaveLength(100);
      expectError(await bulk(Array.from({ length: 101 }, () => draft())), 422, /100/);
      expectError(await bulk({}), 422);
      expectError(await at().api.post('/work-items/bulk', {}), 400);
    });
  });

  describe('POST /work-items/actions', () => {
    const act = (action: string, ids: unknown, more: object = {}) =>
      at().api.post('/work-items/actions', { action, ids, ...more });

    test('acts on each in order; one that does not allow it does not fail the others', async () => {
      const made = (await ok(bulk([draft(), draft(), draft()]))).results.map(
        (r: { work_item: { id: string } }) => r.work_item.id,
      );
      await force(at().db, made[1], 'COMPLETED');
      const ids = [made[0], unknownId, made[1], 'nonsense', made[2]];
      const { results } = await ok(act('cancel', ids));
      expect(results.map((r: { id: string }) => r.id)).toEqual(ids);
      expect([results[0].work_item.status, results[4].work_item.status]).toEqual(['CANCELLED', 'CANCELLED']);
      expect([results[1].error.code, results[3].error.code]).toEqual(['not_found', 'not_found']);
      expect(results[2].error).toMatchObject({
        code: 'precondition_failed',
        status: 'COMPLETED',
        allowed_actions: ['restart'],
      });
    });

    test('refuses an unknown action, too many ids and a wrong id; a missing field is a 400', async () => {
      expectError(await act('explode', []), 422);
      expectError(await act('cancel', Array.from({ length: 101 }, newId)), 422);
      expectError(await act('cancel', [5]), 422);
      expectError(await at().api.post('/work-items/actions', { action: 'cancel' }), 400);
      expect(await ok(act('cancel', []))).toEqual({ results: [] });
    });

    test('is served by v2 only, to members, and so is the bulk create', async () => {
      const { value } = await newKey(at(), 'member');
      expect((await at().as(value).post('/work-items/actions', { action: 'cancel', ids: [] })).status).toBe(
        200,
      );
      expect((await at().as(value).post('/work-items/bulk', { items: [] })).status).toBe(200);
      const v1 = at().test.as(value, '/api/v1');
      expect((await v1.post('/work-items/actions', { action: 'cancel', ids: [] })).status).toBe(404);
      expect((await v1.post('/work-items/bulk', { items: [] })).status).toBe(404);
    });
  });

  describe('GET /work-items', () => {
    const list = (filter: string) => at().api.get(`/work-items?agent_id=${agent.id}&limit=200&${filter}`);

    test('needs_decision selects what waits for a person', async () => {
      const made = (await ok(bulk([draft(), draft(), draft()]))).results.map(
        (r: { work_item: { id: string } }) => r.work_item.id,
      );
      await force(at().db, made[0], 'NEEDS_REVIEW');
      await force(at().db, made[1], 'INDETERMINATE');
      const idsOf = async (filter: string) =>
        (await ok(list(filter))).records.map((r: { id: string }) => r.id);
      expect(await idsOf('needs_decision=true')).toEqual([made[1], made[0]]);
      expect(await idsOf('needs_decision=false')).toContain(made[2]);
      expect(await idsOf('needs_decision=false')).not.toContain(made[0]);
      expectError(await list('needs_decision=yes'), 422);
    });

    test('created_after and created_before leave out the time itself', async () => {
      const [{ work_item }] = (await ok(bulk([draft()]))).results;
      const at1 = work_item.created_at;
      const shifted = (ms: number) => new Date(Date.parse(at1) + ms).toISOString();
      const has = async (filter: string) =>
        (await ok(list(filter))).records.some((r: { id: string }) => r.id === work_item.id);
      expect(await has(`created_after=${shifted(-1)}&created_before=${shifted(1)}`)).toBe(true);
      expect(await has(`created_after=${at1}`)).toBe(false);
      expect(await has(`created_before=${at1}`)).toBe(false);
      const east = shifted(3_600_000 + 1).replace('Z', '%2B01:00');
      expect(await has(`created_before=${east}`)).toBe(true);
      expect(await has('created_after=0000-01-01T00:00:00Z')).toBe(true);
    });

    test.each(['yesterday', '2026-01-31', '2026-02-30T00:00:00Z', '2026-01-31T08:00:00', '1767225600', ''])(
      'the time %j is a 422',
      async (time) => {
        expectError(await list(`created_after=${time}`), 422);
        expectError(await list(`created_before=${time}`), 422);
      },
    );
  });
});
