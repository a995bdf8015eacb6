import { type Fixture, newAgent, newSchedule, ok } from '../contract/fixture.ts';

const lists = [
  'agents',
  'integrations',
  'llm-configurations',
  'tool-servers',
  'data-connections',
  'semantic-data-models',
  'extractions',
];
const single = [
  '/',
  '/review',
  '/schedules',
  '/schedules?view=timeline',
  '/schedules/new',
  '/work-items',
  '/work-items/new',
  '/api-keys',
  '/users',
  '/role-mappings',
  '/settings',
  '/branding',
  '/audit',
  '/status',
  '/document-intelligence',
];
const agentTabs = ['overview', 'schedules', 'work-items', 'instructions', 'tools', 'connect'];
const integrationTabs = ['health', 'settings', 'scopes', 'dead-letters'];

/** The addresses of all pages, after making what they show. A test over all pages has them from here. */
export const makePages = async (at: Fixture): Promise<string[]> => {
  const worker = await newAgent(at, { name: 'Night clerk' });
  const helper = await newAgent(at, { name: 'N'.repeat(200), mode: 'conversational' });
  const schedule = await newSchedule(at, worker.id, { work_item_name: 'Minute report' });
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
  const { data } = await ok(at.api.get('/llm-configurations'));
  const ofAgent = `/agents/${worker.id}`;
  const ofConversation = `/agents/${helper.id}/conversations/${conversation.id}`;
  return [
    ...lists.flatMap((list) => [`/${list}`, `/${list}/new`]),
    ...single,
    ...agentTabs.map((tab) => `${ofAgent}?tab=${tab}`),
    ...['', '/edit'].map((page) => `${ofAgent}/schedules/${schedule.id}${page}`),
    `/work-items/${item.id}`,
    ...[ofConversation, `${ofConversation}?tab=files`],
    ...[`/tool-servers/${server.id}`, `/tool-servers/${server.id}?tab=settings`],
    ...integrationTabs.map((tab) => `/integrations/${integration.id}?tab=${tab}`),
    `/llm-configurations/${data[0].id}`,
  ];
};
