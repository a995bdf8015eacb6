import { stringifySearch } from './search.ts';

type Search = Record<string, string | readonly string[] | number | undefined>;

/** Returns the address of a page with its query and, after `#`, the place in it. */
const address = (path: string, search: Search = {}, hash = ''): string =>
  `${path}${stringifySearch(search)}${hash === '' ? '' : `#${encodeURIComponent(hash)}`}`;

const at = (...parts: string[]): string => `/${parts.map(encodeURIComponent).join('/')}`;

/** The addresses of all pages. Links are made here only, so that a page can move. */
export const to = {
  overview: () => '/',
  review: (workItemId?: string, search?: Search) =>
    address(workItemId === undefined ? '/review' : at('review', workItemId), search),
  workItems: (search?: Search) => address('/work-items', search),
  newWorkItem: (search?: { agent?: string; copy?: string }) => address('/work-items/new', search),
  workItem: (id: string, search?: Search, hash?: string) => address(at('work-items', id), search, hash),
  schedules: (search?: Search) => address('/schedules', search),
  newSchedule: (search?: { agent?: string; copy?: string }) => address('/schedules/new', search),
  schedule: (agentId: string, id: string, search?: Search, hash?: string) =>
    address(at('agents', agentId, 'schedules', id), search, hash),
  /** A schedule whose agent is not known: the page finds it. */
  scheduleById: (id: string, search?: Search) => address(at('schedules', id), search),
  editSchedule: (agentId: string, id: string) => `${at('agents', agentId, 'schedules', id)}/edit`,
  agents: (search?: Search) => address('/agents', search),
  newAgent: (copy?: string) => address('/agents/new', { copy }),
  agent: (id: string, search?: Search) => address(at('agents', id), search),
  conversation: (agentId: string, id: string, search?: Search, hash?: string) =>
    address(at('agents', agentId, 'conversations', id), search, hash),
  extractions: (search?: Search) => address('/extractions', search),
  newExtraction: (search?: Search) => address('/extractions/new', search),
  extraction: (id: string, search?: Search) => address(at('extractions', id), search),
  documentIntelligence: () => '/document-intelligence',
  integrations: (search?: Search) => address('/integrations', search),
  newIntegration: () => '/integrations/new',
  integration: (id: string, search?: Search) => address(at('integrations', id), search),
  llmConfigurations: () => '/llm-configurations',
  newLlmConfiguration: () => '/llm-configurations/new',
  llmConfiguration: (id: string) => at('llm-configurations', id),
  toolServers: () => '/tool-servers',
  newToolServer: () => '/tool-servers/new',
  toolServer: (id: string, search?: Search) => address(at('tool-servers', id), search),
  dataConnections: () => '/data-connections',
  newDataConnection: () => '/data-connections/new',
  dataConnection: (id: string, search?: Search) => address(at('data-connections', id), search),
  semanticDataModels: () => '/semantic-data-models',
  newSemanticDataModel: (search?: { connection?: string }) => address('/semantic-data-models/new', search),
  semanticDataModel: (id: string, search?: Search) => address(at('semantic-data-models', id), search),
  apiKeys: (search?: Search) => address('/api-keys', search),
  users: (search?: Search) => address('/users', search),
  roleMappings: () => '/role-mappings',
  settings: (search?: Search) => address('/settings', search),
  branding: () => '/branding',
  audit: (search?: Search) => address('/audit', search),
  status: () => '/status',
  signIn: (search?: { return_to?: string }) => address('/sign-in', search),
};
