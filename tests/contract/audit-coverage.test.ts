import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { foreignPostgres } from '../harness/foreign.ts';
import type { Client, ClientResponse } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { scripted } from './conversations-fixture.ts';
import { sendForm } from './files-fixture.ts';
import { expectError, type Fixture, newAgent, newSchedule, ok, onPostgres } from './fixture.ts';
import { type Base, newReview, operationsOf } from './operations-fixture.ts';
import { browser, signIn } from './sessions-fixture.ts';
import { send } from './triggers-fixture.ts';

/** What leaves no entry: it stores nothing, or who did it is elsewhere. */
const without = new Set([
  // They compute or read.
  'previewSchedule',
  'tryTrigger',
  'previewDataConnectionTable',
  'scaffoldSemanticDataModel',
  'validateSemanticDataModel',
  'validateSemanticDataModelBody',
  'querySemanticDataModel',
  'queryConversationDataFrames',
  'queryWorkItemDataFrames',
  'previewRoleMappings',
  'previewRoleMappingsAmongUsers',
  'planWorkspace',
  // They try settings that are not stored, or change nothing that is.
  'testObservabilitySettings',
  'testDataConnectionSettings',
  'testEventConnectionSettings',
  'testLlmConfiguration',
  'testDocumentIntelligence',
  // Programs: in the history of the Work Item, with their principal.
  'claimWorkItems',
  'heartbeatWorkItem',
  'finishWorkItem',
  'sendTraces',
]);

/** What the tests of its feature show. */
const elsewhere: Record<string, string[]> = {
  'approvals.test.ts: are audited, without the arguments': ['continueWorkItem'],
  'bulk-actions.test.ts: stops when it is cancelled, and is audited with what it did': ['cancelBulkAction'],
  'tool-protocol-work-items.test.ts: audit what they do like the API': ['callAgent'],
  'integration-replicas.test.ts': ['retryDeadLetters', 'purgeDeadLetters'],
  'sign-in-logout.test.ts: ends the session with the sid': ['backChannelLogout'],
};

/** Sends each body with a field that no operation knows, and each request that takes a key twice under one. */
const twiceWithMore = async (at: Fixture, base: Base, replayed: Set<string>): Promise<Client> => {
  const operations = (await operationsOf(at, [base])).map((one) => ({
    ...one,
    pattern: new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  const client = at.as(adminKey, base);
  const withMore = (body: unknown) =>
    body === null || typeof body !== 'object' ? body : { ...body, no_such_field: [1] };
  return {
    ...client,
    post: async (path, body) => {
      const operation = operations
        .filter(({ method, pattern }) => method === 'POST' && pattern.test(path))
        .sort((a, b) => a.ids.length - b.ids.length)[0]!;
      if (!operation.headers.includes('Idempotency-Key')) return client.post(path, withMore(body));
      const options = { headers: { 'idempotency-key': newId() } };
      replayed.add(operation.id);
      const first = await client.post(path, withMore(body), options);
      const again = await client.post(path, withMore(body), options);
      const parts = ({ status, headers }: ClientResponse) => [status, headers.get('etag')];
      expect(parts(again), operation.id).toEqual(parts(first));
      expect(again.headers.get('idempotency-replayed'), `${operation.id} ${first.text}`).toBe('true');
      // They go on after their first response: the tools of a server are read, and a run or bulk action is carried out.
      const goesOn = ['createToolServer', 'sendMessage', 'startBulkAction', 'createExperiment'].includes(
        operation.id,
      );
      const idOf = ({ body }: ClientResponse) => body.id ?? body.bulk_id;
      if (goesOn) expect(idOf(again), operation.id).toBe(idOf(first));
      else expect(again.body, operation.id).toEqual(first.body);
      const other = { ...(body as object), name: 'other', message: 'other', content: 'other' };
      expectError(await client.post(path, other, options), 422, /Idempotency-Key/);
      return first;
    },
    put: (path, body) => client.put(path, withMore(body)),
    // An unknown setting is refused.
    patch: (path, body) => client.patch(path, path === '/advanced-settings' ? body : withMore(body)),
  };
};

onPostgres((at) => {
  test('each operation that changes something leaves an entry, ignores unknown fields, and happens once under its key', async () => {
    const replayed = new Set<string>();
    const api = await twiceWithMore(at(), '/api/v2', replayed);
    const app = await twiceWithMore(at(), '/app/api', replayed);
    const done: [operation: string, requestId: string][] = [];
    const act = async (operation: string, response: Promise<ClientResponse>) => {
      const { status, headers, body, text } = await response;
      expect(status, `${operation}: ${text}`).toBeLessThan(300);
      done.push([operation, headers.get('x-request-id')!]);
      return body;
    };

    // No worker of the platform changes its Work Items in the meantime.
    const own = { name: 'a', mode: 'worker', execution: 'external' };
    const agent = await act('createAgent', api.post('/agents', own));
    await act('updateAgent', api.patch(`/agents/${agent.id}`, { name: 'b' }));
    const versions = `/agents/${agent.id}`;
    await ok(api.patch(versions, { release: 'manual', instructions: 'two' }));
    const canary = { version: 'draft', percent: 1 };
    await act('startCanary', api.post(`${versions}/canary`, canary));
    await act('abortCanary', api.post(`${versions}/canary/abort`));
    await ok(api.post(`${versions}/canary`, canary));
    await act('promoteCanary', api.post(`${versions}/canary/promote`));
    await ok(api.patch(versions, { instructions: 'three' }));
    await act('publishAgent', api.post(`${versions}/publish`, { note: 'n' }));
    await act('rollBackAgent', api.post(`${versions}/rollback`, { version: 1 }));
    await act('discardAgentDraft', api.delete(`${versions}/draft`));
    const gateOf = await ok(api.post('/datasets', { name: 'of a gate' }));
    const slow = { mock: { steps: [{ text: 'x', delay_ms: 20_000 }] } };
    const cases = Array.from({ length: 20 }, (_, n) =>
      JSON.stringify({ input: { message: `${n}`, payload: slow } }),
    );
    await ok(api.post(`/datasets/${gateOf.id}/import`, { content: cases.join('\n') }));
    const gate = { dataset_id: gateOf.id };
    const gated = await ok(api.post('/agents', { name: 'g', mode: 'worker', release: 'manual', gate }));
    await ok(api.patch(`/agents/${gated.id}`, { instructions: 'two' }));
    const check = await ok(api.post(`/agents/${gated.id}/publish`), 202);
    await act('cancelAgentPublication', api.post(`/agents/${gated.id}/publications/${check.id}/cancel`));
    const schedules = `/agents/${agent.id}/schedules`;
    const yearly = { cron_expression: '0 0 1 1 *' };
    const { id: scheduleId } = await act('createSchedule', api.post(schedules, yearly));
    await act('replaceSchedule', api.put(`${schedules}/${scheduleId}`, { cron_expression: '0 1 1 1 *' }));
    await act('pauseSchedule', app.post(`${schedules}/${scheduleId}/pause`, {}));
    await act('resumeSchedule', app.post(`${schedules}/${scheduleId}/resume`));
    await act('runSchedule', app.post(`${schedules}/${scheduleId}/run`));
    const { id: other } = await newSchedule(at(), agent.id);
    await act('actOnSchedules', app.post('/schedules/actions', { action: 'pause', ids: [other] }));
    await act('deleteSchedule', api.delete(`${schedules}/${scheduleId}`));

    const triggers = `/agents/${agent.id}/triggers`;
    const hook = { name: 't', kind: 'webhook', settings: { scheme: 'standard_webhooks' } };
    const trigger = await act('createTrigger', api.post(triggers, hook));
    const oneTrigger = `${triggers}/${trigger.id}`;
    const occurrenceId = await send(trigger, {});
    await act('redeliverTriggerEvents', app.post(`${oneTrigger}/events/redeliver`, { ids: [occurrenceId] }));
    await act('replaceTrigger', api.put(oneTrigger, { ...hook, name: 'u' }));
    await act('pauseTrigger', api.post(`${oneTrigger}/pause`, {}));
    await act('resumeTrigger', api.post(`${oneTrigger}/resume`));
    await act('rotateTriggerSecret', api.post(`${oneTrigger}/rotate-secret`, {}));
    await act('deleteTrigger', api.delete(oneTrigger));

    const draft = { agent_id: agent.id, draft: true };
    const newDraft = () => ok(api.post('/work-items', draft));
    const item = await act('createWorkItem', api.post('/work-items', draft));
    await act('createWorkItems', api.post('/work-items/bulk', { items: [draft] }));
    await act('updateWorkItem', api.patch(`/work-items/${item.id}`, { message: 'changed' }));
    await act('submitWorkItem', api.post(`/work-items/${item.id}/submit`));
    await act('cancelWorkItem', api.post(`/work-items/${item.id}/cancel`));
    await act('restartWorkItem', api.post(`/work-items/${item.id}/restart`));
    const asked = await newDraft();
    await at().sql`update work_items set status = 'NEEDS_REVIEW' where id = ${asked.id}`;
    await act('completeWorkItem', api.post(`/work-items/${asked.id}/complete`));
    await act('deleteWorkItem', api.delete(`/work-items/${asked.id}`));
    const review = `/reviews/${await newReview(at())}`;
    await act('decideReview', api.post(`${review}/decide`, { message: 'x' }));
    const callbacks = [{ url: 'http://127.0.0.1:9/', events: ['work_item.pending'] }];
    const reported = `/work-items/${(await ok(api.post('/work-items', { agent_id: agent.id, callbacks }))).id}/callbacks`;
    const [{ id: deliveryId }] = (await ok(api.get(reported))).data;
    await at()
      .sql`update callback_deliveries set state = 'failed', next_attempt_at = null where id = ${deliveryId}`;
    await act('retryWorkItemCallback', api.post(`${reported}/${deliveryId}/retry`));
    const [one, two] = [await newDraft(), await newDraft()];
    await act('actOnWorkItems', api.post('/work-items/actions', { action: 'cancel', ids: [one.id] }));
    await act('startBulkAction', app.post('/work-items/actions', { action: 'cancel', ids: [two.id] }));

    const talker = await newAgent(at(), { mode: 'conversational' });
    const talks = `/agents/${talker.id}/conversations`;
    const talk = await act('createConversation', api.post(talks, {}));
    const path = `${talks}/${talk.id}`;
    await act('updateConversation', api.patch(path, { name: 'x' }));
    await act('sendMessage', api.post(`${path}/messages`, { content: 'x' }));
    await act('streamMessage', api.post(`${path}/stream`, { content: 'x' }));
    const csv = [{ name: 'file', filename: 'a.csv', content: 'a\n1' }];
    const file = await act('createConversationFile', sendForm(api, `${path}/files`, csv));
    const source = { kind: 'file', file_id: file.id };
    await act('createConversationDataFrame', api.post(`${path}/data-frames`, { name: 'f', source }));
    await act('deleteConversationDataFrame', api.delete(`${path}/data-frames/f`));
    const extraction = await act(
      'createExtraction',
      api.post('/document-intelligence/extract', {
        file: { agent_id: talker.id, conversation_id: talk.id, file_id: file.id },
        schema: { type: 'object', properties: { a: { type: 'string' } } },
      }),
    );
    await act('deleteExtraction', api.delete(`/extractions/${extraction.id}`));
    await act('deleteConversationFile', api.delete(`${path}/files/${file.id}`));
    const content = scripted({ delay_ms: 60_000 });
    await ok(api.post(`${path}/messages`, { content, wait_seconds: 0 }));
    await act('cancelRun', api.post(`${path}/cancel`));
    await act('deleteConversation', api.delete(path));
    const item2 = `/work-items/${(await newDraft()).id}`;
    const file2 = await act('createWorkItemFile', sendForm(api, `${item2}/files`, csv));
    await act(
      'createWorkItemDataFrame',
      api.post(`${item2}/data-frames`, { name: 'f', source: { kind: 'file', file_id: file2.id } }),
    );
    await act('deleteWorkItemDataFrame', api.delete(`${item2}/data-frames/f`));
    await act('deleteWorkItemFile', api.delete(`${item2}/files/${file2.id}`));

    const settings = { provider: 'otlp_custom_headers', url: 'http://127.0.0.1:9/v1/traces' };
    const integrations = '/observability/integrations';
    const integration = await act(
      'createObservabilityIntegration',
      api.post(integrations, { version: '1', settings }),
    );
    const ofIt = `${integrations}/${integration.id}`;
    await act('replaceObservabilityIntegration', api.put(ofIt, { description: 'x' }));
    await act('updateObservabilityIntegration', api.patch(ofIt, { is_enabled: false }));
    const scope = { scope: 'agent', agent_id: agent.id };
    await act('createObservabilityScope', api.post(`${ofIt}/scopes`, scope));
    await act('deleteObservabilityScope', api.delete(`${ofIt}/scopes?scope=agent&agent_id=${agent.id}`));
    await act('testObservabilityIntegration', api.post(`${ofIt}/test`));
    await act('deleteObservabilityIntegration', api.delete(ofIt));
    const shown = await act('createIntegration', app.post('/integrations', { version: '1', settings }));
    const ofShown = `/integrations/${shown.id}`;
    await act('updateIntegration', app.put(ofShown, { description: 'x' }));
    await act('switchIntegration', app.patch(ofShown, { is_enabled: false }));
    await act('testIntegration', app.post(`${ofShown}/test`));

    const mock = { kind: 'mock', name: 'm', model: 'mock' };
    const llm = await act('createLlmConfiguration', api.post('/llm-configurations', mock));
    await act('updateLlmConfiguration', api.patch(`/llm-configurations/${llm.id}`, { name: 'n' }));
    const { llm_id: before } = await ok(api.get('/llm-configurations/defaults'));
    await act('setLlmDefaults', api.put('/llm-configurations/defaults', { llm_id: llm.id }));
    await ok(api.put('/llm-configurations/defaults', { llm_id: before }));
    await act('deleteLlmConfiguration', api.delete(`/llm-configurations/${llm.id}`));

    const given = { model: 'm', rates: { input: 1, output: 2 } };
    const price = await act('createPrice', api.post('/prices', given));
    await act('updatePrice', api.patch(`/prices/${price.id}`, { valid_to: '2100-01-01T00:00:00Z' }));
    await act('deletePrice', api.delete(`/prices/${price.id}`));

    await using tools = await startToolServer();
    const server = await act('createToolServer', api.post('/tool-servers', { name: 't', url: tools.url }));
    const servers = `/tool-servers/${server.id}`;
    await act('updateToolServer', api.patch(servers, { default_policy: 'deny' }));
    await act('testToolServer', api.post(`${servers}/test`));
    await act('discoverTools', api.post(`${servers}/discover`));
    await act('updateTool', api.patch(`${servers}/tools/echo`, { policy: 'allow' }));
    // Behind another address every tool counts as changed.
    await ok(api.patch(servers, { url: `${tools.url}?again` }));
    await ok(api.post(`${servers}/discover`));
    const [{ definition_hash }] = (await ok(api.get(`${servers}/tools`))).data;

    await act('acceptTool', api.post(`${servers}/tools/echo/accept`, { definition_hash }));
    await act('deleteToolServer', api.delete(servers));

    const foreign = await foreignPostgres(inject('postgresUrl'), 'create table t (id integer primary key)');
    const postgres = { name: 'c', engine: 'postgres', configuration: foreign.settings };
    const connection = await act('createDataConnection', api.post('/data-connections', postgres));
    const connections = `/data-connections/${connection.id}`;
    await act('updateDataConnection', api.patch(connections, { name: 'd' }));
    await act('testDataConnection', api.post(`${connections}/test`));

    const nats = {
      name: 'e',
      kind: 'nats',
      settings: { servers: ['127.0.0.1:9'], tls: { mode: 'disable' } },
    };
    const events = await act('createEventConnection', api.post('/event-connections', nats));
    const eventPath = `/event-connections/${events.id}`;
    await act('updateEventConnection', api.patch(eventPath, { name: 'f' }));
    await act('testEventConnection', api.post(`${eventPath}/test`));
    await act('deleteEventConnection', api.delete(eventPath));
    const channel = await act(
      'createChannel',
      api.post('/channels', { name: 'h', kind: 'webhook', url: 'http://127.0.0.1:9/' }),
    );
    await act('updateChannel', api.patch(`/channels/${channel.id}`, { name: 'i' }));
    await act('testChannel', api.post(`/channels/${channel.id}/test`));
    const steps = [{ channel_id: channel.id, to: 'channel' }];
    const route = await act('createRoute', api.post('/routes', { name: 'r', for: 'alerts', steps }));
    await act('updateRoute', api.patch(`/routes/${route.id}`, { enabled: false }));
    await act('deleteRoute', api.delete(`/routes/${route.id}`));
    await act('deleteChannel', api.delete(`/channels/${channel.id}`));
    const field = {
      name: 'id',
      datatype: 'Integer',
      expression: { dialects: [{ dialect: 'ANSI_SQL', expression: 'id' }] },
    };
    const document = { name: 'm', datasets: [{ name: 't', source: 'public.t', fields: [field] }] };
    const fields = { name: 'm', data_connection_id: connection.id, semantic_model: document };
    const model = await act('createSemanticDataModel', api.post('/semantic-data-models', fields));
    const renamed = { ...fields, name: 'n', verified_queries: [] };
    await act('replaceSemanticDataModel', api.put(`/semantic-data-models/${model.id}`, renamed));
    const imported = await act(
      'importSemanticDataModel',
      api.post('/semantic-data-models/import', {
        name: 'o',
        data_connection_id: connection.id,
        document: (await api.get(`/semantic-data-models/${model.id}/export`)).text,
      }),
    );
    await act('deleteSemanticDataModel', api.delete(`/semantic-data-models/${model.id}`));
    await ok(api.delete(`/semantic-data-models/${imported.id}`), 204);
    await act('deleteDataConnection', api.delete(connections));
    const reader = { provider: 'embedded', configuration: {} };
    await act('putDocumentIntelligence', api.put('/document-intelligence', reader));
    await act('deleteDocumentIntelligence', api.delete('/document-intelligence'));

    const limited = { name: 'b', scope: { kind: 'workspace' }, unit: 'tokens', limit: 9e15, period: 'day' };
    const budget = await act('createBudget', api.post('/budgets', limited));
    await act('updateBudget', api.patch(`/budgets/${budget.id}`, { limit: 9e14 }));
    await act('deleteBudget', api.delete(`/budgets/${budget.id}`));
    const rule = await act('createAlertRule', api.post('/alert-rules', { name: 'r', kind: 'no_scheduler' }));
    await act('updateAlertRule', api.patch(`/alert-rules/${rule.id}`, { enabled: false }));
    const [alert] = await at().sql`
      insert into alerts (rule_id, kind, severity, title, detail, cause_at)
      values (${rule.id}, 'no_scheduler', 'error', 'x', 'x', platform_now()) returning id`;
    await act('acknowledgeAlert', api.post(`/alerts/${alert.id}/acknowledge`, {}));
    await act('deleteAlertRule', api.delete(`/alert-rules/${rule.id}`));
    const dataset = await act('createDataset', api.post('/datasets', { name: 'd' }));
    const ofDataset = `/datasets/${dataset.id}`;
    await act('updateDataset', api.patch(ofDataset, { description: 'x' }));
    const input = { message: 'x' };
    const oneCase = await act('createCase', api.post(`${ofDataset}/cases`, { input }));
    await act('updateCase', api.patch(`${ofDataset}/cases/${oneCase.id}`, { name: 'y' }));
    const judged = {
      agent_id: (await newAgent(at())).id,
      dataset_id: dataset.id,
      graders: [{ type: 'human', question: 'x' }],
    };
    const tested = await act('createExperiment', api.post('/experiments', judged));
    const ofTested = `/experiments/${tested.id}`;
    await until(async () => (await ok(api.get(ofTested))).state === 'done');
    const [trial] = (await ok(api.get(`${ofTested}/trials`))).data;
    const labels = `${ofTested}/trials/${trial.id}/labels`;
    await act('labelTrial', api.post(labels, { grader: 'human', verdict: 'pass' }));
    await act('removeLabel', api.delete(`${labels}/human`));
    await act('deleteExperiment', api.delete(ofTested));
    await ok(api.patch('/advanced-settings', { MAX_CONCURRENT_TRIALS: 0 }));
    const waiting = await ok(api.post('/experiments', judged));
    await act('cancelExperiment', api.post(`/experiments/${waiting.id}/cancel`));
    await ok(api.delete(`/experiments/${waiting.id}`), 204);
    await act('deleteCase', api.delete(`${ofDataset}/cases/${oneCase.id}`));
    const lines = JSON.stringify({ input });
    await act('importCases', api.post(`${ofDataset}/import`, { content: lines }));
    await act('deleteDataset', api.delete(ofDataset));

    const user = await act('inviteUser', api.post('/users', { email: 'a@example.com', role: 'member' }));
    await act('updateUser', api.patch(`/users/${user.id}`, { role: 'builder' }));
    await act('deleteUser', api.delete(`/users/${user.id}`));
    const groups = { claim: 'groups', value: 'x', role: 'member' };
    const mapping = await act('createRoleMapping', api.post('/role-mappings', groups));
    await act('updateRoleMapping', api.patch(`/role-mappings/${mapping.id}`, { role: 'builder' }));
    await act('deleteRoleMapping', api.delete(`/role-mappings/${mapping.id}`));
    const key = await act('createApiKey', api.post('/api-keys', { name: 'k', role: 'member' }));
    await act('rotateApiKey', api.post(`/api-keys/${key.id}/rotate`, {}));
    await act('deleteApiKey', api.delete(`/api-keys/${key.id}`));
    await act('createSession', at().as(undefined, '/app/api').post('/sessions', { api_key: adminKey }));
    const session = await signIn(at(), adminKey);
    const [{ id: newest }] = (await ok(app.get('/sessions'))).data;
    await act('deleteSession', app.delete(`/sessions/${newest}`));
    const again = await signIn(at(), adminKey);
    expect(again.cookie).not.toBe(session.cookie);
    await act('signOut', browser(at(), again.cookie).post('/sign-out'));
    await signIn(at(), adminKey);
    await act('deleteSessions', app.delete('/sessions'));
    await act('updateAdvancedSettings', api.patch('/advanced-settings', { MAX_SCHEDULES_PER_AGENT: 21 }));
    await act('updateBranding', api.patch('/branding', { workspace_name: 'x' }));
    await act('deleteTraces', api.delete('/traces'));
    const workspace = { version: 1, branding: { workspace_name: 'y' } };
    await act('applyWorkspace', app.post('/workspace/apply', { document: workspace }));
    await act('deleteAgent', api.delete(`/agents/${agent.id}`));

    const rows = await at().sql`select distinct request_id from audits where outcome = 'done'`;
    const entries = new Set(rows.map((row) => row.request_id));
    expect(done.filter(([, id]) => !entries.has(id)).map(([operation]) => operation)).toEqual([]);

    const taking = (await operationsOf(at())).filter(({ headers }) => headers.includes('Idempotency-Key'));
    expect(taking.map(({ id }) => id).filter((id) => !replayed.has(id))).toEqual([]);

    // A new operation must be in one of the three.
    const permissions = readFileSync(join(import.meta.dirname, '../../permissions.md'), 'utf8');
    const changing = [...permissions.matchAll(/^\| (\w+) \|.*\| (?:POST|PUT|PATCH|DELETE) /gm)].map(
      ([, id]) => id!,
    );
    const known = new Set([
      ...done.map(([operation]) => operation),
      ...without,
      ...Object.values(elsewhere).flat(),
    ]);
    expect(changing.filter((operation) => !known.has(operation))).toEqual([]);
  });
});
