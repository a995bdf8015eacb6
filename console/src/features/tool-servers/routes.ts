import { readOf } from '../../api/operations.ts';
import { readList } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { toolServerSearch, toolServersSearch } from './search.ts';

export const toolServersPages = [
  page({
    path: '/tool-servers',
    search: toolServersSearch,
    operation: 'listToolServers',
    first: readList('listUsedToolServers'),
    component: [() => import('./ToolServersPage.tsx'), 'ToolServersPage'],
  }),
  page({
    path: '/tool-servers/new',
    search: noSearch,
    operation: 'createToolServer',
    component: [() => import('./NewToolServerPage.tsx'), 'NewToolServerPage'],
  }),
  page({
    path: '/tool-servers/$toolServerId',
    search: toolServerSearch,
    operation: 'getToolServer',
    first: ({ params: { toolServerId } }) => [readOf('getUsedToolServer', { tool_server_id: toolServerId })],
    component: [() => import('./ToolServerPage.tsx'), 'ToolServerPage'],
  }),
] as const;
