import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { rfc8785 } from '../../src/lib/rfc8785.ts';
import { until } from '../harness/wait.ts';
import { expectError, faults, newAgent, newKey, ok, onEachDatabase, query, unknownId } from './fixture.ts';

describe('versions of an agent', () => {
  onEachDatabase((at) => {
    const path = ({ id }: { id: string }) => `/agents/${id}`;
    const get = (agent: { id: string }) => ok(at().api.get(path(agent)));
    const patch = (agent: { id: string }, changes: object) => ok(at().api.patch(path(agent), changes));
    const act = (agent: { id: string }, action: string, body?: object) =>
      at().api.post(`${path(agent)}/${action}`, body);
    const versions = async (agent: { id: string }) =>
      (await ok(at().api.get(`${path(agent)}/versions`))).data;
    const publications = async (agent: { id: string }) =>
      (await ok(at().api.get(`${path(agent)}/publications`))).data;
    const run = async (agent: { id: string }, fields: object = {}) => {
      const item = await ok(at().api.post('/work-items', { agent_id: agent.id, ...fields }));
      return until(async () => {
        const now = await ok(at().api.get(`/work-items/${item.id}`));
        return ['COMPLETED', 'ERROR', 'NEEDS_REVIEW'].includes(now.status) ? now : undefined;
      });
    };

    test('a new agent has version 1, published automatically by who made it', async () => {
      const agent = await newAgent(at());
      expect(agent).toMatchObject({
        release: 'automatic',
        version: 1,
        latest_version: 1,
        has_changes: false,
        canary: null,
      });
      const [version] = await versions(agent);
      expect(version).toMatchObject({ number: 1, state: 'published', first_run: null });
      expect(version.created_by).toEqual(expect.any(String));
      const [publication] = await publications(agent);
      expect(publication).toMatchObject({
        kind: 'automatic',
        state: 'published',
        from_version: null,
        version: 1,
        by: { id: version.created_by },
      });
      expect(await ok(act(agent, 'publish'))).toEqual(publication);
    });

    test('automatic: a change of content is a version at once, others are not, and equal content is none', async () => {
      const agent = await newAgent(at());
      expect(
        await patch(agent, { name: 'B', description: 'x', settings: { max_concurrency: 9 } }),
      ).toMatchObject({
        version: 1,
      });
      expect(await patch(agent, { instructions: '' })).toMatchObject({ version: 1 });
      expect(await patch(agent, { instructions: 'Be brief.', settings: { max_steps: 7 } })).toMatchObject({
        version: 2,
        latest_version: 2,
        has_changes: false,
      });
      const { data } = await ok(at().api.get(`/audits?target_id=${agent.id}&limit=1`));
      expect(data[0]).toMatchObject({ action: 'agent.update', details: { version: 2 } });
      const changed = await ok(at().api.get(`${path(agent)}/versions/2?compare_to=1`));
      expect(changed.changes).toEqual([
        { path: 'instructions', from: '', to: 'Be brief.' },
        { path: 'settings.max_steps', from: 20, to: 7 },
      ]);
      expect(changed.content).not.toHaveProperty('settings.max_concurrency');
      expect(changed.content_hash).toBe(createHash('sha256').update(rfc8785(changed.content)).digest('hex'));
      expect((await versions(agent)).map((one: { state: string }) => one.state)).toEqual([
        'published',
        'retired',
      ]);
    });

    test('manual: a change is a draft until it is published, and can be discarded', async () => {
      const agent = await newAgent(at(), { release: 'manual', instructions: 'one' });
      expect(await patch(agent, { instructions: 'two' })).toMatchObject({
        instructions: 'two',
        version: 1,
        has_changes: true,
      });
      expect((await run(agent)).agent_version).toBe(1);
      const draft = await ok(at().api.get(`${path(agent)}/versions/draft?compare_to=published`));
      expect(draft).toMatchObject({ number: null, state: 'draft', content: { instructions: 'two' } });
      expect(draft.changes).toEqual([{ path: 'instructions', from: 'one', to: 'two' }]);
      expect((await at().api.delete(`${path(agent)}/draft`)).status).toBe(204);
      expect(await get(agent)).toMatchObject({ instructions: 'one', has_changes: false });
      await patch(agent, { instructions: 'three' });
      const published = await ok(act(agent, 'publish', { note: 'Better.' }));
      expect(published).toMatchObject({ kind: 'publish', from_version: 1, version: 2, note: 'Better.' });
      expect(await get(agent)).toMatchObject({ instructions: 'three', version: 2, has_changes: false });
      expect(faults(await act(agent, 'publish', { check_only: true }))).toEqual(['check_only']);
      const stale = { headers: { 'if-match': '"1"' } };
      expectError(await at().api.post(`${path(agent)}/publish`, {}, stale), 412);
      await patch(agent, { instructions: 'four' });
      expect(await patch(agent, { release: 'automatic' })).toMatchObject({
        instructions: 'four',
        version: 3,
        has_changes: false,
      });
    });

    test('a rollback returns to a version that was published, takes the draft along, and a claim after it uses it', async () => {
      const agent = await newAgent(at(), { instructions: 'one' });
      await patch(agent, { instructions: 'two' });
      expect((await run(agent)).agent_version).toBe(2);
      const back = await ok(act(agent, 'rollback', { version: 1, reason: 'Worse.' }));
      expect(back).toMatchObject({ kind: 'rollback', from_version: 2, version: 1, reason: 'Worse.' });
      expect(await get(agent)).toMatchObject({ instructions: 'one', version: 1, latest_version: 2 });
      expect((await run(agent)).agent_version).toBe(1);
      expect(await ok(act(agent, 'rollback', { version: 1 }))).toEqual(back);
      expectError(await act(agent, 'rollback', { version: 9 }), 422);
      await patch(agent, { release: 'manual' });
      await patch(agent, { instructions: 'three' });
      await ok(act(agent, 'rollback', { version: 2 }));
      expect(await get(agent)).toMatchObject({ instructions: 'three', version: 2, has_changes: true });
    });

    test('an unknown version is 404, and 422 if it is what another is compared to', async () => {
      const agent = await newAgent(at());
      for (const one of ['0', '2', '01', '1.0', 'x', unknownId]) {
        expectError(await at().api.get(`${path(agent)}/versions/${one}`), 404);
      }
      expect(faults(await at().api.get(`${path(agent)}/versions/1?compare_to=2`))).toEqual(['compare_to']);
      expect(
        (
          await at()
            .as(undefined, '/api/v1')
            .get(`${path(agent)}/versions`)
        ).status,
      ).toBe(401);
      expectError(
        await at()
          .as(undefined, '/api/v2')
          .get(`${path(agent)}/versions`),
        401,
      );
    });

    test('a Work Item keeps the version of its first claim until it is restarted', async () => {
      const agent = await newAgent(at(), { settings: { max_attempts: 1 } });
      const item = await run(agent, { payload: { mock: { fail: 'no' } } });
      expect(item).toMatchObject({ status: 'ERROR', agent_version: 1 });
      await patch(agent, { instructions: 'two' });
      const again = async (action: string) => {
        await ok(at().api.post(`/work-items/${item.id}/${action}`));
        return until(async () => {
          const now = await ok(at().api.get(`/work-items/${item.id}`));
          return ['PENDING', 'EXECUTING'].includes(now.status) ? undefined : now;
        });
      };
      expect(await again('continue')).toMatchObject({ agent_version: 1 });
      expect(await again('restart')).toMatchObject({ agent_version: 2 });
      const { data } = await ok(at().api.get(`/work-items/${item.id}/events`));
      const claims = data.filter(({ action }: { action: string }) => action === 'claim');
      expect(
        claims.map((one: { details: { agent_version: number } }) => one.details.agent_version),
      ).toContain(2);
      const found = await ok(at().api.get(`/work-items?agent_id=${agent.id}&agent_version=2`));
      expect(found.records.map(({ id }: { id: string }) => id)).toEqual([item.id]);
      expectError(await at().api.get('/work-items?agent_version=2'), 422);
      expectError(await at().app.get('/work-items?agent_version=2'), 422);
      const shown = await ok(at().app.get(`/work-items?agent_id=${agent.id}&agent_version=1`));
      expect(shown.data).toEqual([]);
    });

    test('the first attempt with a version records its models and tools once', async () => {
      const agent = await newAgent(at(), { settings: { builtin_tools: ['current_time'] } });
      await run(agent);
      const [{ first_run }] = await versions(agent);
      expect(first_run.llms).toEqual([
        { llm_id: expect.any(String), revision: expect.any(Number), model: expect.any(String) },
      ]);
      expect(first_run.tools).toEqual([{ tool_name: 'current_time', definition_hash: null }]);
      await run(agent);
      expect((await versions(agent))[0].first_run).toEqual(first_run);
    });

    test('what a replica of the release before changes is a version too', async () => {
      const agent = await newAgent(at());
      await query(
        at(),
        sql`update agents set instructions = 'old', revision = revision + 1 where id = ${agent.id}`,
      );
      expect(await get(agent)).toMatchObject({ version: 2, latest_version: 2, instructions: 'old' });
      expect((await versions(agent))[0]).toMatchObject({ number: 2, created_by: null });
      expect((await publications(agent))[0]).toMatchObject({ kind: 'automatic', version: 2, by: null });
    });

    test('a canary takes its share by key, is counted, promoted and aborted', async () => {
      const agent = await newAgent(at(), { release: 'manual' });
      await patch(agent, { instructions: 'new' });
      const { canary, latest_version } = await ok(act(agent, 'canary', { version: 'draft', percent: 50 }));
      expect(canary).toMatchObject({ version: 2, percent: 50, canary: { finished: 0, failed: 0 } });
      expect(latest_version).toBe(2);
      expectError(await act(agent, 'canary', { version: 2, percent: 1 }), 412, /./, {
        canary: expect.anything(),
      });
      expectError(await act(agent, 'publish'), 412, /./, { canary: expect.anything() });
      let own = 0;
      for (let i = 0; i < 12; i++) {
        const item = await run(agent);
        const hash = createHash('sha256').update(`${canary.id}:${item.id}`).digest().readUInt32BE(0);
        const expected = hash % 10_000 < 5_000 ? 2 : 1;
        expect(item.agent_version).toBe(expected);
        if (expected === 2) own++;
      }
      expect((await get(agent)).canary).toMatchObject({
        canary: { finished: own, failed: 0 },
        published: { finished: 12 - own, failed: 0 },
      });
      expect(await ok(act(agent, 'canary/promote'))).toMatchObject({
        version: 2,
        canary: null,
        has_changes: false,
      });
      expectError(await act(agent, 'canary/abort'), 412, /./, { canary: null });
      await ok(act(agent, 'canary', { version: 1, percent: 1 }));
      expect(await ok(act(agent, 'canary/abort'))).toMatchObject({ version: 2, canary: null });
      expectError(await act(agent, 'canary', { version: 2, percent: 1 }), 412, /./, { version: 2 });
      await ok(act(agent, 'rollback', { version: 1 }));
      await ok(at().api.delete(`${path(agent)}/draft`), 204);
      // Without a draft it is the published version, though another one is newer.
      expectError(await act(agent, 'canary', { version: 'draft', percent: 1 }), 412, /./, { version: 1 });
      expect((await get(agent)).latest_version).toBe(2);
    });

    test('a canary that is over is aborted by the platform, once', async () => {
      const agent = await newAgent(at());
      await patch(agent, { instructions: 'new' });
      const until_ = new Date(Date.now() + 200).toISOString();
      await ok(act(agent, 'canary', { version: 1, percent: 10, until: until_ }));
      await until(async () => (await get(agent)).canary === null, 30_000);
      const { data } = await ok(at().api.get(`/audits?target_id=${agent.id}&action=agent.canary_abort`));
      expect(data).toMatchObject([{ details: { reason: 'until', version: 1 } }]);
      const attention = async () =>
        (await ok(at().app.get('/overview'))).attention.filter(
          ({ subject }: { subject: { id: string } | null }) => subject?.id === agent.id,
        );
      await until(async () => (await attention()).length === 1);
      expect(await attention()).toMatchObject([{ kind: 'canary_aborted', severity: 'info' }]);
      await patch(agent, { instructions: 'newer' });
      await until(async () => (await attention()).length === 0);
    });

    test('a version that names what was deleted cannot be returned to, and its Work Items say so', async () => {
      const llm = await ok(
        at().api.post('/llm-configurations', { name: 'gone', kind: 'mock', model: 'mock' }),
      );
      const agent = await newAgent(at(), { fallback_llm_ids: [llm.id], release: 'manual' });
      const item = await run(agent, { payload: { mock: { fail: 'no' } } });
      await patch(agent, { fallback_llm_ids: [] });
      expect((await at().api.delete(`/llm-configurations/${llm.id}`)).status).toBe(412);
      await ok(act(agent, 'publish'));
      await patch(agent, { llm_id: llm.id });
      expect((await at().api.delete(`/llm-configurations/${llm.id}`)).status).toBe(412);
      await at().api.delete(`${path(agent)}/draft`);
      expect((await at().api.delete(`/llm-configurations/${llm.id}`)).status).toBe(204);
      expectError(await act(agent, 'rollback', { version: 1 }), 412, /deleted/, {
        missing: [{ field: 'fallback_llm_ids', id: llm.id }],
      });
      await ok(at().api.post(`/work-items/${item.id}/continue`));
      const ended = await until(async () => {
        const now = await ok(at().api.get(`/work-items/${item.id}`));
        return now.error?.code === 'version_unusable' ? now : undefined;
      });
      expect(ended).toMatchObject({ status: 'ERROR', error: { message: expect.stringMatching(/Restart/) } });
    });

    test('a policy for a tool server that the agent does not use keeps nothing from running', async () => {
      const { id } = await ok(
        at().api.post('/tool-servers', { name: 'gone', url: 'http://127.0.0.1:2/mcp', enabled: false }),
      );
      const tool_policies = [{ tool_server_id: id, tool: 'pay', policy: 'deny' }];
      const agent = await newAgent(at(), { tool_policies });
      const item = await run(agent, {
        payload: { mock: { steps: [{ tool: 'request_review', args: { reason: 'Right?' } }] } },
      });
      const drafted = await newAgent(at(), { release: 'manual' });
      await patch(drafted, { tool_policies });
      expect((await at().api.delete(`/tool-servers/${id}`)).status).toBe(204);
      expect(await get(drafted)).toMatchObject({ tool_policies: [], has_changes: false });
      await ok(at().api.post(`/work-items/${item.id}/continue`));
      const ended = await until(async () => {
        const now = await ok(at().api.get(`/work-items/${item.id}`));
        return ['COMPLETED', 'ERROR'].includes(now.status) ? now : undefined;
      });
      expect(ended).toMatchObject({ status: 'COMPLETED', agent_version: 1, error: null });
      expect(await ok(act(agent, 'rollback', { version: 1 }))).toMatchObject({ version: 1 });
    });

    test('a draft that loosens is not published by who has not the approval role, whatever way', async () => {
      const agent = await newAgent(at(), { release: 'manual', approval_role: 'admin' });
      await patch(agent, { approval_role: 'builder' });
      const builder = at().as((await newKey(at(), 'builder')).value);
      for (const refused of [
        builder.post(`${path(agent)}/publish`),
        builder.post(`${path(agent)}/canary`, { version: 'draft', percent: 1 }),
        builder.patch(path(agent), { release: 'automatic' }),
        builder.patch(path(agent), { release: 'automatic', instructions: 'x' }),
      ]) {
        expectError(await refused, 403, /approval role: admin/);
      }
      await ok(builder.patch(path(agent), { release: 'automatic', approval_role: 'admin' }));
      expect(await get(agent)).toMatchObject({ version: 1, has_changes: false, release: 'automatic' });
    });

    test('members read versions, and only builders publish', async () => {
      const agent = await newAgent(at());
      const member = at().as((await newKey(at(), 'member')).value);
      await ok(member.get(`${path(agent)}/versions/published`));
      expectError(await member.post(`${path(agent)}/publish`), 403);
      expectError(await member.post(`${path(agent)}/rollback`, { version: 1 }), 403);
    });
  });
});
