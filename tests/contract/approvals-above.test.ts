import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../src/lib/crypto.ts';
import type { Client } from '../harness/http.ts';
import { startToolServer, type TestToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { scripted } from './conversations-fixture.ts';
import { expectError, newAgent, newKey, ok, onPostgres } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

onPostgres((at) => {
  let bank: TestToolServer;
  let builder: Client;
  beforeAll(async () => {
    bank = await startToolServer({ tools: [{ name: 'pay' }, { name: 'see' }] });
    builder = at().as((await newKey(at(), 'builder')).value);
  });
  afterAll(() => bank[Symbol.asyncDispose]());

  const connect = (fields: object = {}): Promise<Json> =>
    ok(at().api.post('/tool-servers', { name: 'bank', url: bank.url, ...fields }));
  const agentOf = (row: Json, fields: object = {}): Promise<Json> =>
    newAgent(at(), { tool_server_ids: [row.id], approval_role: 'admin', ...fields });
  const policy = (row: Json, tool: string, one: string) => ({ tool_server_id: row.id, tool, policy: one });
  const refused = async (response: ReturnType<Client['patch']>) => expectError(await response, 403, /admin/);

  test('who has not the approval role of an agent cannot loosen what binds it', async () => {
    const row = await connect();
    const tool_policies = [policy(row, 'pay', 'require_approval'), policy(row, 'see', 'deny')];
    const agent = await agentOf(row, { tool_policies, settings: { approver_not_requester: true } });
    const patch = (body: object, by = builder) => by.patch(`/agents/${agent.id}`, body);
    const free = await connect({ name: 'free', default_policy: 'allow' });
    for (const loosened of [
      { approval_role: 'builder' },
      { approval_role: null },
      { settings: { approver_not_requester: false } },
      { settings: { approver_not_requester: null } },
      { tool_policies: [policy(row, 'pay', 'allow'), policy(row, 'see', 'deny')] },
      // Without a policy of its own the agent has that of the server.
      { tool_policies: [policy(row, 'pay', 'require_approval')] },
      { tool_server_ids: [row.id, free.id] },
      { name: 'other', approval_role: 'member' },
    ]) {
      await refused(patch(loosened));
    }
    expect(await ok(at().api.get(`/agents/${agent.id}`))).toMatchObject({
      ...agent,
      updated_at: expect.anything(),
    });
    for (const harmless of [
      { instructions: 'x', approval_role: 'admin', settings: { approver_not_requester: true, max_steps: 9 } },
      { tool_policies: [policy(row, 'see', 'deny')] },
      { tool_policies: [policy(row, 'pay', 'deny'), policy(row, 'see', 'deny')] },
      { tool_server_ids: [] },
    ]) {
      await ok(patch(harmless));
    }
    await ok(patch({ approval_role: 'member', tool_policies: [] }, at().api));
    await ok(patch({ tool_policies: [policy(row, 'pay', 'allow')], tool_server_ids: [free.id] }));
  });

  test('neither by the server or its tools, also in a document of the workspace', async () => {
    const row = await connect();
    const path = `/tool-servers/${row.id}`;
    const agent = await agentOf(row);
    await refused(builder.patch(path, { default_policy: 'allow' }));
    await refused(builder.patch(`${path}/tools/pay`, { policy: 'allow' }));
    await ok(builder.patch(`${path}/tools/pay`, { policy: 'deny' }));
    await refused(builder.patch(`${path}/tools/pay`, { policy: null }));
    // The agent's own policy comes before that of the tool.
    await ok(
      at().api.patch(`/agents/${agent.id}`, { tool_policies: [policy(row, 'see', 'require_approval')] }),
    );
    await ok(builder.patch(`${path}/tools/see`, { policy: 'allow' }));
    await ok(builder.patch(path, { default_policy: 'deny' }));
    await refused(builder.patch(path, { default_policy: 'require_approval' }));
    await ok(at().api.patch(path, { default_policy: 'require_approval' }));

    bank.tools[1] = { name: 'see', description: 'sees everything' };
    await ok(at().api.post(`${path}/discover`));
    const { definition_hash } = (await ok(at().api.get(`${path}/tools`))).data[1];
    await refused(builder.post(`${path}/tools/see/accept`, { definition_hash }));
    await ok(at().api.post(`${path}/tools/see/accept`, { definition_hash }));
    await ok(at().api.patch(`/agents/${agent.id}`, { approval_role: 'builder' }));
    await ok(builder.patch(path, { default_policy: 'allow' }));
  });

  test('who asked for the work does not approve it, with any of their keys; another person does', async () => {
    const row = await connect();
    const { data } = await ok(at().api.get(`/tool-servers/${row.id}/tools`));
    const settings = { approver_not_requester: true };
    const agent = await agentOf(row, { approval_role: 'builder', settings });
    expect(agent.settings.approver_not_requester).toBe(true);
    const ada = at().as((await newPerson(at(), 'builder')).value);
    const script = await newKey(at(), 'builder', {}, ada);
    const bob = at().as((await newPerson(at(), 'builder')).value);
    const password = 'hunter2';
    const args = { amount: 5, to: { iban: 'DE1', api_key: 'k' }, items: [1, 2], password };
    const ask = async (by: Client): Promise<Json> => {
      const payload = { mock: { steps: [{ tool: data[0].tool_name, args }] } };
      const { id } = await ok(by.post('/work-items', { agent_id: agent.id, payload }));
      return until(async () => {
        const item = await ok(at().api.get(`/work-items/${id}`));
        return item.status === 'NEEDS_REVIEW' && item;
      });
    };
    const decide = ({ id, pending_approvals: [one] }: Json, by: Client, more: object) =>
      by.post(`/work-items/${id}/continue`, { decisions: [{ approval_id: one.approval_id, ...more }] });

    const item = await ask(at().as(script.value));
    for (const by of [ada, at().as(script.value)]) {
      expectError(await decide(item, by, { decision: 'approve' }), 403, /another person/i);
    }
    // Nor when the key that asked is gone.
    await ok(ada.delete(`/api-keys/${script.id}`), 204);
    expectError(await decide(item, ada, { decision: 'approve' }), 403, /another person/i);
    await ok(decide(await ask(ada), ada, { decision: 'deny' }));

    const edited = { ...args, amount: 6, to: { iban: 'DE2', api_key: 'l' }, items: [1], password: 'x' };
    await ok(decide(item, bob, { decision: 'approve', arguments: edited }));
    const entries = await ok(at().api.get(`/audits?action=work_item.continue&target_id=${item.id}`));
    const { details } = entries.data[0];
    expect(details.asked_hash).toBe(
      sha256('{"amount":5,"items":[1,2],"password":"hunter2","to":{"api_key":"k","iban":"DE1"}}'),
    );
    expect(details.executed_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(details.changes).toEqual([
      { path: 'amount', from: 5, to: 6 },
      { path: 'items[1]', from: 2, to: null },
      { path: 'password', from: '***', to: '***' },
      { path: 'to.api_key', from: '***', to: '***' },
      { path: 'to.iban', from: 'DE1', to: 'DE2' },
    ]);
    expect(JSON.stringify(entries)).not.toContain(password);
  });

  test('nor does who changed its draft', async () => {
    const row = await connect();
    const { data } = await ok(at().api.get(`/tool-servers/${row.id}/tools`));
    const settings = { approver_not_requester: true };
    const agent = await agentOf(row, { approval_role: 'builder', settings });
    const ada = at().as((await newPerson(at(), 'builder')).value);
    const { id } = await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true }));
    const payload = { mock: { steps: [{ tool: data[0].tool_name, args: {} }] } };
    await ok(ada.patch(`/work-items/${id}`, { payload }));
    await ok(at().api.post(`/work-items/${id}/submit`));
    const item = await until(async () => {
      const found = await ok(at().api.get(`/work-items/${id}`));
      return found.status === 'NEEDS_REVIEW' && found;
    });
    const [{ approval_id }] = item.pending_approvals;
    const approve = { decisions: [{ approval_id, decision: 'approve' }] };
    expectError(await ada.post(`/work-items/${id}/continue`, approve), 403, /another person/i);
    const events = await ok(at().api.get(`/work-items/${id}/events`));
    expect(events.data.find((event: Json) => event.action === 'update')).toMatchObject({
      from: 'DRAFT',
      to: 'DRAFT',
      details: { changed: ['payload'] },
    });
  });

  test('in a conversation the person who wrote is the one who asked', async () => {
    const row = await connect();
    const { data } = await ok(at().api.get(`/tool-servers/${row.id}/tools`));
    const settings = { approver_not_requester: true };
    const agent = await agentOf(row, { mode: 'conversational', approval_role: 'builder', settings });
    const ada = at().as((await newPerson(at(), 'builder')).value);
    const path = `/agents/${agent.id}/conversations`;
    const { id } = await ok(ada.post(path, {}));
    const steps = [{ tool: data[0].tool_name, args: {} }];
    const run = await ok(ada.post(`${path}/${id}/messages`, { content: scripted({ steps }) }));
    expect(run.status, JSON.stringify(run)).toBe('needs_review');
    const decisions = [{ approval_id: run.pending_approvals[0].approval_id, decision: 'approve' }];
    expectError(await ada.post(`${path}/${id}/messages`, { decisions }), 403, /another person/i);
    await ok(at().api.post(`${path}/${id}/messages`, { decisions }));
  });
});
