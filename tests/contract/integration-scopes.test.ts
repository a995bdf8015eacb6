import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { databases } from '../harness/database.ts';
import { until } from '../harness/wait.ts';
import {
  examples,
  type IntegrationsFixture,
  integrations,
  startIntegrations,
} from './integrations-fixture.ts';

describe.each(process.env.EVERY_DATABASE ? databases : ['postgres' as const])(
  'scopes and routing on %s',
  (kind) => {
    let fixture: IntegrationsFixture;
    beforeAll(async () => {
      fixture = await startIntegrations(kind);
    });
    afterAll(() => fixture?.close());

    /** Makes an integration. Returns the path of its scopes and its number. */
    const create = async (more: object = {}) => {
      const body = { settings: examples.otlp_basic_auth, version: '1', ...more };
      const { id } = (await fixture.admin.post(integrations, body)).body;
      const { rows } = await fixture.db.run((reader) =>
        sql<{ number: number }>`select number from observability_integrations where id = ${id}`.execute(
          reader,
        ),
      );
      const path = `${integrations}/${id}`;
      return { id, path, scopes: `${path}/scopes`, number: rows[0]!.number };
    };
    const names = async (path: string) =>
      (await fixture.admin.get(path)).body.map((row: { scope: string; agent_id: string | null }) => [
        row.scope,
        row.agent_id,
      ]);

    test('POST responds with 201 and the scope, also if it exists already', async () => {
      const { id, scopes } = await create();
      const agent_id = await fixture.agent();
      const first = await fixture.admin.post(scopes, { scope: 'agent', agent_id });
      expect(first.status).toBe(201);
      expect(first.body).toEqual({
        integration_id: id,
        scope: 'agent',
        agent_id,
        created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      });
      const again = await fixture.admin.post(scopes, { scope: 'agent', agent_id: agent_id.toUpperCase() });
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect(await names(scopes)).toEqual([
        ['global', null],
        ['agent', agent_id],
      ]);
    });

    test('equal POSTs at the same time make one scope', async () => {
      const { scopes } = await create();
      const body = { scope: 'agent', agent_id: await fixture.agent() };
      const responses = await Promise.all([1, 2, 3, 4].map(() => fixture.admin.post(scopes, body)));
      expect(new Set(responses.map((response) => `${response.status} ${response.text}`)).size).toBe(1);
      expect(await names(scopes)).toHaveLength(2);
    });

    test('the database itself refuses a second global scope', async () => {
      const { id } = await create();
      const twice = fixture.db.tx((tx) =>
        sql`insert into observability_scopes (integration_id, scope) values (${id}, 'global')`.execute(tx),
      );
      await expect(twice).rejects.toMatchObject({ code: '23505' });
    });

    test('an agent_id next to global is ignored, whatever it is', async () => {
      const { scopes } = await create();
      await fixture.admin.delete(`${scopes}?scope=global`);
      for (const agent_id of [newId(), 'nonsense', null, 5]) {
        const response = await fixture.admin.post(scopes, { scope: 'global', agent_id });
        expect(response.status).toBe(201);
        expect(response.body).toMatchObject({ scope: 'global', agent_id: null });
      }
      expect(await names(scopes)).toEqual([['global', null]]);
      const removed = await fixture.admin.delete(`${scopes}?scope=global&agent_id=${newId()}`);
      expect([removed.status, removed.text]).toEqual([204, '']);
    });

    test.each<[unknown, number]>([
      [{ scope: 'agent' }, 400],
      [{ scope: 'agent', agent_id: 7 }, 422],
      [{ scope: 'agent', agent_id: null }, 422],
      [{ scope: 'agent', agent_id: newId() }, 404],
      [{ scope: 'agent', agent_id: 'nonsense' }, 404],
      [{ scope: 'agent', agent_id: '' }, 404],
    ])('POST of %j is %i', async (body, status) => {
      const { scopes } = await create();
      const response = await fixture.admin.post(scopes, body);
      expect(response.status, response.text).toBe(status);
      expect(await names(scopes)).toHaveLength(1);
    });

    test.each<[string, number]>([
      ['', 400],
      ['?agent_id=x', 400],
      ['?scope=agent', 400],
      ['?scope=', 422],
      ['?scope=all', 422],
      ['?scope=global&scope=agent', 422],
      [`?scope=agent&agent_id=${newId()}`, 404],
      ['?scope=agent&agent_id=nonsense', 404],
      ['?scope=agent&agent_id=', 404],
    ])('DELETE with "%s" is %i', async (query, status) => {
      const { scopes } = await create();
      const response = await fixture.admin.delete(`${scopes}${query}`);
      expect(response.status, response.text).toBe(status);
      expect(await names(scopes)).toHaveLength(1);
    });

    test('DELETE removes one scope, and is 404 the second time', async () => {
      const { scopes } = await create();
      const agent_id = await fixture.agent();
      await fixture.admin.post(scopes, { scope: 'agent', agent_id });
      const query = `${scopes}?scope=agent&agent_id=${agent_id}`;
      for (const [removed, left] of [
        [query, [['global', null]]],
        [`${scopes}?scope=global`, []],
      ] as const) {
        for (const status of [204, 404]) expect((await fixture.admin.delete(removed)).status).toBe(status);
        expect(await names(scopes)).toEqual(left);
      }
    });

    test('changes of scopes are in the audit log, repeated requests are not', async () => {
      const { id, scopes } = await create();
      const agent_id = await fixture.agent();
      for (const _ of [1, 2]) await fixture.admin.post(scopes, { scope: 'agent', agent_id });
      for (const _ of [1, 2]) await fixture.admin.delete(`${scopes}?scope=agent&agent_id=${agent_id}`);
      const { rows } = await fixture.db.run((reader) =>
        sql<{ action: string; details: object }>`select action, details - 'context' as details from audits
        where target_id = ${id} and action like 'integration_scope.%' order by id`.execute(reader),
      );
      const details = { scope: 'agent', agent_id };
      expect(rows).toEqual([
        { action: 'integration_scope.create', details },
        { action: 'integration_scope.delete', details },
      ]);
    });

    test('an integration receives the agents in its scopes, at once on this replica and within a second on others', async () => {
      const { path, scopes, number } = await create();
      const [mine, others] = [await fixture.agent(), await fixture.agent()];
      const goes = (agentId: string | null, where = fixture.observability) =>
        where.destinations.table().forAgent(agentId, 'agent').includes(number);
      const debugGoes = (agentId: string | null) =>
        fixture.observability.destinations.table().forAgent(agentId, 'application').includes(number);

      expect([goes(mine), goes('never-heard-of')]).toEqual([true, true]);
      expect([debugGoes(null), debugGoes(mine)]).toEqual([false, false]);
      await until(() => goes(mine, fixture.other), 1_000);

      await fixture.admin.post(scopes, { scope: 'agent', agent_id: mine });
      await fixture.admin.delete(`${scopes}?scope=global`);
      await fixture.admin.patch(path, { debug: true });
      expect([goes(mine), goes(mine.toUpperCase())]).toEqual([true, true]);
      expect([goes(others), goes('never-heard-of')]).toEqual([false, false]);
      expect([debugGoes(mine), debugGoes(others), debugGoes(null)]).toEqual([true, false, true]);
      await until(() => goes(mine, fixture.other) && !goes(others, fixture.other), 1_000);

      await fixture.admin.patch(path, { is_enabled: false });
      expect([goes(mine), debugGoes(mine), debugGoes(null)]).toEqual([false, false, false]);
      await fixture.admin.patch(path, { is_enabled: true });

      await fixture.db.tx((tx) => sql`delete from agents where id = ${mine}`.execute(tx));
      expect(await names(scopes)).toEqual([]);
      for (const where of [fixture.observability, fixture.other])
        await until(() => !goes(mine, where), 1_000);

      await fixture.admin.delete(path);
      expect(fixture.observability.destinations.get(number)).toBeUndefined();
      await until(() => fixture.other.destinations.get(number) === undefined, 1_000);
    });

    test('the number of an integration is never used again', async () => {
      const { path, number } = await create();
      await fixture.admin.delete(path);
      expect((await create()).number).toBeGreaterThan(number);
    });

    test('a destination has its address, its headers and why it cannot be reached; edits raise its revision', async () => {
      const { destinations } = fixture.observability;
      const { id, path, number } = await create();
      let changes = 0;
      const off = destinations.onChange(() => void changes++);
      const before = destinations.get(number)!;
      expect(before).toMatchObject({ id, provider: 'otlp_basic_auth', enabled: true });
      expect(before.problem).toBeUndefined();
      expect(before.url).toBe(examples.otlp_basic_auth.url);
      expect(JSON.stringify(before)).not.toContain('secret');

      const settings = { ...examples.llm_tracing, url: `https://\${NOPE}.example.com` };
      await fixture.admin.put(path, { settings });
      const after = destinations.get(number)!;
      expect(after.revision).toBeGreaterThan(before.revision);
      expect(after).toMatchObject({ provider: 'llm_tracing', url: '' });
      expect(after.problem).toContain('URL_PLACEHOLDERS');
      expect(changes).toBeGreaterThan(0);
      off();
      const soFar = changes;
      await fixture.admin.patch(path, { debug: true });
      expect(changes).toBe(soFar);
      expect(destinations.all().map((destination) => destination.number)).toContain(number);
    });

    test('trace links come from the enabled integrations in scope that can build them', async () => {
      const trace = 'a'.repeat(32);
      const mine = await fixture.agent();
      const links = async (agent: string | null) =>
        (await fixture.db.run((reader) => fixture.observability.traceLinks(reader, agent, trace))).map(
          (link) => link.integration_id,
        );
      const spanUi = await create({ description: 'ours' });
      const llm = await create({ settings: examples.llm_tracing });
      const off = await create();
      await fixture.admin.patch(off.path, { is_enabled: false });
      const own = await create({ settings: examples.hosted_dashboard });
      await fixture.admin.post(own.scopes, { scope: 'agent', agent_id: mine });
      await fixture.admin.delete(`${own.scopes}?scope=global`);

      const forMine = await links(mine);
      expect(forMine).toEqual(expect.arrayContaining([spanUi.id, own.id]));
      expect(forMine).not.toContain(llm.id);
      expect(forMine).not.toContain(off.id);
      for (const other of [null, newId(), 'nonsense']) {
        expect(await links(other)).toContain(spanUi.id);
        expect(await links(other)).not.toContain(own.id);
      }
      const all = await fixture.db.run((reader) => fixture.observability.traceLinks(reader, mine, trace));
      expect(all.find((link) => link.integration_id === spanUi.id)).toEqual({
        integration_id: spanUi.id,
        description: 'ours',
        url: `https://ui.example.com/base/trace/${trace}`,
      });
      expect(JSON.stringify(all)).not.toContain('secret');
    });
  },
);
