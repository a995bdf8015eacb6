import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newChannel } from '../contract/channels-fixture.ts';
import { type Fixture, newAgent, newSchedule, ok } from '../contract/fixture.ts';
import { newTrigger, send } from '../contract/triggers-fixture.ts';
import { until } from '../harness/wait.ts';

/** The pages of the router, which the build writes: paths with `$names`. */
const routes = (): string[] => {
  const file = join(import.meta.dirname, '..', '..', 'console', 'dist', '.vite', 'pages.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { path: string }[]).map(({ path }) => path);
};

/** The further states of a page that are worth a look: its tabs and views. */
const searches: Record<string, readonly string[]> = {
  '/schedules': ['view=timeline', 'view=calendar'],
  '/agents/$agentId': ['schedules', 'triggers', 'work-items', 'instructions', 'tools', 'connect'].map(
    (tab) => `tab=${tab}`,
  ),
  '/agents/$agentId/conversations/$conversationId': ['tab=files'],
  '/agents/$agentId/triggers/$triggerId': ['connect', 'history', 'raw'].map((tab) => `tab=${tab}`),
  '/tool-servers/$toolServerId': ['tab=settings'],
  '/alerts': ['tab=history', 'tab=rules'],
  '/traces/$traceId': ['attributes', 'events', 'raw'].map((tab) => `show=${tab}`),
  '/evaluations': ['tab=experiments', 'tab=judges'],
  '/evaluations/datasets/$datasetId': ['tab=graders', 'tab=experiments'],
  '/integrations/$integrationId': ['settings', 'scopes', 'dead-letters'].map((tab) => `tab=${tab}`),
};

/** Pages that only lead to another. */
const leading = ['/schedules/$scheduleId'];

/** The addresses of all pages, after making what they show. A test over all pages has them from here. */
export const makePages = async (at: Fixture): Promise<string[]> => {
  const worker = await newAgent(at, { name: 'Night clerk' });
  const helper = await newAgent(at, { name: 'N'.repeat(200), mode: 'conversational' });
  const schedule = await newSchedule(at, worker.id, { work_item_name: 'Minute report' });
  const trigger = await newTrigger(at, worker.id, { name: 'T'.repeat(200) });
  await send(trigger, { total: 42 });
  const item = await ok(at.api.post('/work-items', { agent_id: worker.id, name: 'By hand' }));
  const name = 'The reconciliation of invoices '.repeat(6);
  const conversation = await ok(at.api.post(`/agents/${helper.id}/conversations`, { name }));
  const server = await ok(at.api.post('/tool-servers', { name: 'Ledger', url: 'http://127.0.0.1:2/mcp' }));
  const integration = await ok(
    at.api.post('/observability/integrations', {
      version: '1',
      settings: { provider: 'otlp_custom_headers', url: 'http://127.0.0.1:2/v1/traces' },
    }),
    201,
  );
  const dataset = await ok(
    at.api.post('/datasets', {
      name: 'D'.repeat(200),
      graders: [{ type: 'human', question: 'Is it polite?' }],
    }),
  );
  const input = { message: 'Is it due?' };
  const one = await ok(at.api.post(`/datasets/${dataset.id}/cases`, { name: 'C'.repeat(200), input }));
  const experiment = await ok(at.api.post('/experiments', { agent_id: worker.id, dataset_id: dataset.id }));
  const trial = await until(async () => {
    const [first] = (await ok(at.api.get(`/experiments/${experiment.id}/trials`))).data;
    return first.outcome === null ? undefined : first;
  });
  const trace = await until(async () => {
    await ok(at.api.post('/work-items', { agent_id: worker.id, message: 'traced' }));
    return (await ok(at.api.get('/traces'))).data[0];
  });
  const budget = await ok(
    at.api.post('/budgets', {
      name: 'B'.repeat(200),
      scope: { kind: 'workspace' },
      unit: 'nano_usd',
      limit: 9e15,
      period: 'month',
    }),
  );
  const channel = await newChannel(at, 'webhook', { name: 'C'.repeat(200), url: 'http://127.0.0.1:2/' });
  const rule = await ok(
    at.api.post('/alert-rules', { name: 'R'.repeat(200), kind: 'missed', agent_id: worker.id }),
  );
  const steps = [{ channel_id: channel.id, to: 'channel' }];
  const route = await ok(at.api.post('/routes', { for: 'reviews', name: 'R'.repeat(200), steps }));
  const { data } = await ok(at.api.get('/llm-configurations'));
  const ids: Record<string, string> = {
    agentId: worker.id,
    scheduleId: schedule.id,
    triggerId: trigger.id,
    workItemId: item.id,
    conversationId: conversation.id,
    toolServerId: server.id,
    integrationId: integration.id,
    llmId: data[0].id,
    datasetId: dataset.id,
    caseId: one.id,
    experimentId: experiment.id,
    trialId: trial.id,
    traceId: trace.trace_id,
    budgetId: budget.id,
    channelId: channel.id,
    alertRuleId: rule.id,
    routeId: route.id,
  };
  const addressOf = (path: string): string =>
    path
      .replace('$agentId/conversations', `${helper.id}/conversations`)
      .replace(/\$(\w+)/g, (name, param: string) => ids[param] ?? name);
  // A data connection, a model, an extraction and an alert have tests of their own, with what they need.
  const made = routes().filter((path) => !addressOf(path).includes('$') && !leading.includes(path));
  return made.flatMap((path) => [
    addressOf(path),
    ...(searches[path] ?? []).map((search) => `${addressOf(path)}?${search}`),
  ]);
};
