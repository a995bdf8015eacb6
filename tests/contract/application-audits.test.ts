import { describe, expect, test } from 'vitest';
import { auditAll } from '../../src/audit/index.ts';

import { systemActor, systemPrincipal } from '../../src/lib/principal.ts';
import { until } from '../harness/wait.ts';
import { later } from '../harness/work-items.ts';
import { expectError, newAgent, newKey, newSchedule, ok, onPostgres } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

describe('the audit log in the application', () => {
  onPostgres((at) => {
    const page = (filter: string) => ok(at().app.get(`/audits?${filter}`));
    const list = async (filter: string): Promise<Json[]> => (await page(`limit=200&${filter}`)).data;
    const search = (q: string, more = '') => list(`q=${encodeURIComponent(q)}${more}`);
    const actions = (entries: Json[]) => entries.map(({ action }) => action);
    const by = (id: string, name: string) => ({
      ...systemActor,
      principal: systemPrincipal(id, name),
      requestId: `request of ${id}`,
    });
    const write = (actor: ReturnType<typeof by>, entries: Parameters<typeof auditAll>[2]) =>
      at().db.tx((tx) => auditAll(tx, actor, entries));
    const verify = (search = '') => ok(at().app.get(`/audits/verify?${search}`));
    const chained = () => until(async () => (await verify('limit=1')).unchained === 0, 10_000, 100);

    test('entries name what they were done to, with what a link to it needs', async () => {
      const agent = await newAgent(at(), { name: 'Ledger clerk' });
      const schedule = await newSchedule(at(), agent.id, { work_item_name: 'Minute report' });
      const item = await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true }));
      const gone = await newAgent(at(), { name: 'Gone' });
      await ok(at().api.delete(`/agents/${gone.id}`), 204);
      const key = await newKey(at(), 'member', { name: 'Pod' });
      await ok(at().api.patch('/advanced-settings', { MAX_SCHEDULES_PER_AGENT: 21 }));
      // The use of the first key is recorded once an hour, in the meantime.
      const changes = (await list('')).filter(({ action }) => action !== 'bootstrap.use');
      const targets = changes.map(({ action, target }) => [action, target]);
      expect(targets.slice(0, 7)).toEqual([
        ['advanced_setting.update', null],
        ['api_key.create', { name: 'Pod', agent_id: null }],
        ['agent.delete', null],
        ['agent.create', null],
        ['work_item.create', { name: null, agent_id: null }],
        ['schedule.create', { name: 'Minute report', agent_id: agent.id }],
        ['agent.create', { name: 'Ledger clerk', agent_id: null }],
      ]);
      const [entry] = await list(`target_id=${schedule.id}`);
      expect(entry).toMatchObject({ target_type: 'schedule', target_id: schedule.id, outcome: 'done' });
      expect(entry.context).not.toBeNull();
      // By the name of what it was done to, also of what has no page; and by the ids of what is gone.
      expect(actions(await search('ledger'))).toEqual(['agent.create']);
      expect(actions(await search('max_schedules'))).toEqual(['advanced_setting.update']);
      expect(actions(await search(gone.id.toUpperCase()))).toEqual(['agent.delete', 'agent.create']);
      expect(actions(await search(item.id))).toEqual(['work_item.create']);
      expect(actions(await search(key.prefix))).toEqual(['api_key.create']);
      expect(await search('no such thing')).toEqual([]);
    });

    test('is searched by action, by who did it, and by request, page by page and with filters', async () => {
      const [anna, bert] = [by('principal-a', 'Anna of the night'), by('principal-b', 'Bert')];
      const thing = (action: string, n: number) => ({ action, targetId: `thing-${n}` });
      const made = [thing('gizmo.make', 1), thing('gizmo.break', 1), thing('other.make', 1)];
      await later(at().db, -3_600, (tx) => auditAll(tx, anna, made));
      await write(bert, [
        thing('gizmo.make', 2),
        { ...thing('gizmo.break', 2), outcome: 'refused' as const },
      ]);
      const both = ['gizmo.break', 'gizmo.make'];
      expect(actions(await search('GIZMO'))).toEqual([...both, ...both]);
      expect(actions(await search('of the night'))).toEqual(['other.make', 'gizmo.break', 'gizmo.make']);
      expect(actions(await search('principal-b'))).toEqual(['gizmo.break', 'gizmo.make']);
      expect(actions(await search('request of principal-a'))).toHaveLength(3);
      expect(actions(await search('thing-1'))).toHaveLength(3);
      expect(actions(await search('gizmo', '&outcome=refused'))).toEqual(['gizmo.break']);
      const ofAnna = (action: string) => search('gizmo', `&principal_id=principal-a&action=${action}`);
      expect(await ofAnna('*.make')).toEqual([]);
      expect(actions(await ofAnna('gizmo.m*'))).toEqual(['gizmo.make']);
      const all = await search('gizmo');
      const span = `&from=${all[1].at}&to=2100-01-01T00:00:00Z`;
      expect(actions(await search('gizmo', span))).toEqual(['gizmo.break', 'gizmo.make']);
      const { data, next } = await page('q=gizmo&limit=3');
      // The ids alone: the platform seals entries meanwhile, which gives them a position and a hash.
      const ids = (entries: Json[]) => entries.map((entry) => entry.id);
      expect(ids([...data, ...(await list(`q=gizmo&next=${next}`))])).toEqual(ids(all));
    });

    test('the facets are what it can be filtered by, with the names that were last used', async () => {
      await write(by('principal-c', 'Old name'), [{ action: 'facet.one', targetId: null }]);
      await write(by('principal-c', 'New name'), [
        { action: 'facet.two', targetId: null, targetType: 'facets' },
      ]);
      const facets = await ok(at().app.get('/audits/facets'));
      expect(facets.actions).toEqual(expect.arrayContaining(['facet.one', 'facet.two', 'agent.create']));
      expect(new Set(facets.actions).size).toBe(facets.actions.length);
      expect(facets.principals.filter(({ id }: Json) => id === 'principal-c')).toEqual([
        { kind: 'system', id: 'principal-c', name: 'New name' },
      ]);
      expect(facets.target_types).toEqual(expect.arrayContaining(['facet', 'facets', 'agent']));
    });

    test('an export has what the search finds, and the log says so', async () => {
      await write(by('principal-d', 'Dora'), [
        { action: 'export.one', targetId: null },
        { action: 'else.two', targetId: null },
      ]);
      await write(by('principal-e', 'Emil'), [{ action: 'export.three', targetId: null }]);
      await chained();
      const { text } = await at().app.get('/audits/export?q=dora');
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(actions(lines.slice(0, -1))).toEqual(['export.one', 'else.two']);
      expect(lines.at(-1)).toHaveProperty('checkpoint');
      const [entry] = await list('action=audit.export');
      expect(entry.details).toMatchObject({ filters: { q: 'dora' }, limit: null });
    });

    test('the chain is verified in parts, and a broken one is known until that place is right', async () => {
      await write(
        by('principal-f', 'F'),
        Array.from({ length: 25 }, () => ({ action: 'part.x', targetId: null })),
      );
      await chained();
      const parts: Json[] = [];
      for (let after = ''; ; ) {
        const part = await verify(`limit=10${after}`);
        parts.push(part);
        if (part.done) break;
        expect(part).toMatchObject({ ok: true, checked: 10, position: 10 * parts.length });
        after = `&position=${part.position}&hash=${part.hash}`;
      }
      const whole = await ok(at().api.get('/audits/verify'));
      expect(whole.checked).toBeGreaterThan(25);
      expect(parts.reduce((sum, { checked }) => sum + checked, 0)).toBe(whole.checked);
      expect(parts.at(-1)).toMatchObject({ ok: true, hash: whole.last_hash, position: whole.last_position });
      expect(parts[1].anchor).toBe('matches');

      const tamper = (name: string) =>
        at().sql`with off as (select set_config('session_replication_role', 'replica', true))
            update audits set principal_name = ${name} from off where position = 15`;
      const [{ name }] = await at().sql`select principal_name as name from audits where position = 15`;
      const fault = async () => (await ok(at().app.get('/status'))).audit.fault;
      const second = `limit=10&position=10&hash=${parts[0].hash}`;
      await tamper('someone else');
      expect(await verify('limit=10')).toMatchObject({ ok: true, done: false });
      expect(await verify(second)).toMatchObject({
        ok: false,
        done: true,
        checked: 4,
        broken_at: 15,
        position: 14,
      });
      expect(await fault()).toMatchObject({ position: 15 });
      expect(await verify('limit=10')).toMatchObject({ ok: true });
      expect(await fault()).toMatchObject({ position: 15 });
      await tamper(name);
      expect(await verify(second)).toMatchObject({ ok: true });
      expect(await fault()).toBeNull();

      const wrong = await verify(`position=10&hash=${'0'.repeat(64)}`);
      expect(wrong).toMatchObject({ ok: false, done: true, checked: 0, anchor: 'differs' });
      expect(await verify(`position=999999&hash=${parts[0].hash}`)).toMatchObject({ anchor: 'beyond_end' });
      expectError(await at().app.get('/audits/verify?position=10'), 400);
    });
  });
});
