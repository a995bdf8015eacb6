import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { type Fixture, query } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const apiKey = 'sk-secret-of-the-house-model-0123456789';
const headerKey = 'secret-of-the-ledger-0123456789';
const token = 'secret-of-the-collector-0123456789';
export const secrets = { HOUSE_MODEL_KEY: apiKey, TOOLS_KEY: headerKey, TRACES: token };
export const secret = (name: string) => `\${secret:${name}}`;
/** No one listens there. */
export const nowhere = 'http://127.0.0.1:2';

const field = (name: string) => ({
  name,
  expression: { dialects: [{ dialect: 'ANSI_SQL', expression: name }] },
  datatype: 'String',
});
export const salesModel = {
  name: 'sales',
  datasets: [{ name: 'orders', source: 'orders', fields: [field('status')] }],
};

/** Something of every kind. */
export const everything = () => ({
  version: 1,
  settings: { MAX_SCHEDULES_PER_AGENT: 30 },
  branding: { workspace_name: 'Night shift' },
  llm_configurations: [
    {
      name: 'House model',
      kind: 'openai_compatible',
      model: 'house-1',
      base_url: `${nowhere}/v1`,
      api_key: secret('HOUSE_MODEL_KEY'),
    },
  ],
  default_llm: 'House model',
  prices: [
    { model: 'house-*', rates: { input: 0.5, output: '2' }, valid_from: '2026-01-01T00:00:00Z' },
    {
      llm: 'House model',
      model: 'house-1',
      rates: { input: 0, output: 0 },
      above: { input_tokens: 1_000, rates: { input: 1, output: 1 } },
      valid_from: '2026-02-01T00:00:00+01:00',
      valid_to: '2100-01-01T00:00:00Z',
    },
  ],
  tool_servers: [
    {
      name: 'Ledger',
      url: `${nowhere}/mcp`,
      headers: { 'x-key': secret('TOOLS_KEY') },
      tools: { pay: 'require_approval', read: { policy: 'allow', idempotent: true } },
    },
  ],
  data_connections: [{ name: 'Shop', engine: 'sqlite', configuration: { path: 'shop.db' } }],
  event_connections: [
    {
      name: 'Orders',
      kind: 'nats',
      settings: { servers: ['nats.invalid:4222'], tls: { mode: 'disable' }, token: secret('TRACES') },
    },
  ],
  semantic_data_models: [
    {
      name: 'Sales',
      data_connection: 'Shop',
      semantic_model: salesModel,
      verified_queries: [{ name: 'All', question: 'Which?', sql: 'select status from orders' }],
    },
  ],
  datasets: [
    {
      name: 'Nights',
      graders: [
        { type: 'equals', ignore_case: true },
        { type: 'llm_judge', rubric: 'The books are closed.', llm: 'House model' },
        { type: 'llm_judge', name: 'default', rubric: 'No excuses.' },
      ],
    },
  ],
  agents: [
    {
      name: 'Night clerk',
      mode: 'worker',
      instructions: 'Count.\n\nThe text $${secret:X} is no reference.',
      llm: 'House model',
      fallback_llms: ['Built-in mock'],
      tool_servers: ['Ledger'],
      tool_policies: [{ tool_server: 'Ledger', tool: 'Pay', policy: 'deny' }],
      semantic_data_models: ['Sales'],
      callbacks: [{ url: `${nowhere}/hook`, headers: { authorization: `Bearer ${secret('TRACES')}` } }],
      settings: { max_steps: 5 },
      // Its dataset has no cases yet: they are imported afterwards.
      release: 'manual',
      gate: {
        dataset: 'Nights',
        tags: ['month end'],
        graders: [{ type: 'llm_judge', rubric: 'The books are closed.', llm: 'House model' }],
        trials: 2,
      },
      schedules: [
        {
          key: 'nightly',
          cron_expression: '30 2 * * *',
          timezone: 'Europe/Berlin',
          message: 'Close the books.',
          payload: { ledger: 1, ids: [12345678901234567890n] },
          enabled: true,
        },
        { key: 'weekly', cron_expression: '0 9 * * 1', enabled: false, metadata: { picker: 'week' } },
      ],
      triggers: [
        // Before what it watches.
        {
          name: 'A silent shop',
          kind: 'absence',
          settings: { trigger: 'Night clerk/Refunds', window_seconds: 3600 },
        },
        {
          name: 'Refunds',
          kind: 'webhook',
          settings: { scheme: 'hmac', hmac: { header: 'X-Sig' }, secret: secret('TRACES') },
          filter: 'event.body.amount > 10',
          mapping: { message: 'Refund {{ event.body.order }}, the text $${secret:X}' },
          dedup: { key: 'event.body.order' },
          rate_limit: { per_minute: 60, over: 'queue' },
        },
        {
          name: 'Stream',
          kind: 'nats',
          settings: { connection: 'Orders', stream: 'ORDERS', subjects: ['orders.>'] },
          enabled: false,
        },
        { name: 'After night', kind: 'work_item', settings: { agent: 'Porter', statuses: ['COMPLETED'] } },
      ],
    },
    { name: 'Porter', mode: 'conversational', llm: null },
  ],
  budgets: [
    {
      name: 'The month',
      scope: { kind: 'workspace' },
      unit: 'nano_usd',
      limit: 20_000_000_000,
      period: 'month',
    },
    {
      name: 'Each night',
      scope: { kind: 'schedule', name: 'Night clerk/nightly' },
      unit: 'tokens',
      limit: 1_000_000,
      period: 'day',
      timezone: 'Europe/Berlin',
      action: 'cheaper',
      llm: 'House model',
      from_percent: 60,
      notify_percent: [90],
    },
    {
      name: 'Each agent',
      scope: { kind: 'agent' },
      unit: 'tokens',
      limit: 5,
      period: 'total',
      enabled: false,
    },
  ],
  integrations: [
    {
      name: 'local collector',
      version: '1',
      debug: false,
      settings: {
        provider: 'otlp_custom_headers',
        url: `${nowhere}/v1/traces`,
        headers: { 'x-key': secret('TRACES') },
      },
      scopes: { global: true, agents: ['Porter', 'Night clerk'] },
    },
  ],
  channels: [
    {
      name: 'Desk',
      kind: 'slack',
      bot_token: secret('TRACES'),
      app_token: secret('TRACES'),
      conversation: 'C1',
    },
    { name: 'Hook', kind: 'webhook', url: 'https://hook.invalid/', headers: { 'x-key': secret('TRACES') } },
    { name: 'Mail', kind: 'email', smtp_url: 'smtp://mail.invalid', from: 'a@example.com', enabled: false },
  ],
  routes: [
    {
      name: 'Refunds',
      for: 'reviews',
      match: {
        agents: ['Night clerk'],
        tools: ['ledger__*'],
        conditions: [{ path: '/amount', op: 'gt', value: 5 }],
      },
      steps: [
        { channel: 'Desk', to: 'channel' },
        { channel: 'Mail', to: { role: 'admin' }, after_minutes: 30 },
      ],
      decide_role: 'admin',
    },
    {
      name: 'Errors',
      for: 'alerts',
      match: { severities: ['error'] },
      steps: [{ channel: 'Hook', to: 'channel' }],
    },
  ],
  alert_rules: [
    {
      name: 'Nightly report',
      kind: 'missed',
      schedule: 'Night clerk/nightly',
      params: { grace_seconds: 300 },
    },
    { name: 'Quiet clerk', kind: 'failing', agent: 'Night clerk', enabled: false, severity: 'info' },
    { name: 'Half of them', kind: 'failing', params: { percent: 50 } },
  ],
  role_mappings: [{ claim: 'groups', value: 'night', role: 'builder', priority: 3 }],
  document_intelligence: { provider: 'embedded', settings: {}, llm: 'House model', ocr: 'off' },
});

/** The databases that the connections of tests read. */
export const prepare = ({ dataDir }: Pick<Fixture, 'dataDir'>): void => {
  const folder = join(dataDir, 'databases');
  mkdirSync(folder, { recursive: true });
  for (const name of ['shop.db', 'other.db']) {
    const shop = new DatabaseSync(join(folder, name));
    shop.exec('create table if not exists orders (status text)');
    shop.close();
  }
};

export const plan = (at: Fixture, document: unknown, more: object = {}) =>
  at.app.post('/workspace/plan', { document, ...more });
export const apply = (at: Fixture, document: unknown, more: object = {}) =>
  at.app.post('/workspace/apply', { document, secrets, ...more });
export const exported = async (at: Fixture, format = 'yaml'): Promise<string> => {
  const response = await at.app.get(`/workspace?format=${format}`);
  expect(response.status, response.text).toBe(200);
  return response.text;
};
/** The changes that are none of `unchanged`, as `action kind name`. */
export const changed = ({ changes }: Json): string[] =>
  changes
    .filter(({ action }: Json) => action !== 'unchanged')
    .map(({ action, kind, name }: Json) => `${action} ${kind} ${name}`);
export const audits = async (at: Fixture): Promise<string[]> =>
  (await query(at, sql`select action from audits order by id`)).map(({ action }) => action);

/** The secrets that an export refers to, with what they were. */
export const exportedSecrets = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/(?<!\$)\$\{secret:(\w+)\}/g)].map(([, name]) => {
      if (name!.includes('API_KEY')) return [name, apiKey];
      if (name!.startsWith('TOOL_SERVER')) return [name, headerKey];
      if (name!.endsWith('SMTP_URL')) return [name, 'smtp://mail.invalid'];
      if (name!.endsWith('_URL')) return [name, 'https://hook.invalid/'];
      if (name!.endsWith('_SECRET')) return [name, `whsec_${Buffer.alloc(32, 1).toString('base64')}`];
      return [name, name!.includes('AUTHORIZATION') ? `Bearer ${token}` : token];
    }),
  );
