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
  tool_servers: [
    {
      name: 'Ledger',
      url: `${nowhere}/mcp`,
      headers: { 'x-key': secret('TOOLS_KEY') },
      tools: { pay: 'require_approval', read: { policy: 'allow', idempotent: true } },
    },
  ],
  data_connections: [{ name: 'Shop', engine: 'sqlite', configuration: { path: 'shop.db' } }],
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
    },
    { name: 'Porter', mode: 'conversational', llm: null },
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
      if (name!.endsWith('_SECRET')) return [name, `whsec_${Buffer.alloc(32, 1).toString('base64')}`];
      return [name, name!.includes('AUTHORIZATION') ? `Bearer ${token}` : token];
    }),
  );
