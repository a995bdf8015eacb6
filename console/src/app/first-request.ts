import { type Me, mePath } from '../api/me.ts';
import { getEarly, queryClient } from '../api/query.ts';
import { path, type Query, type Reply } from '../api/request.ts';
import { agentRequests } from '../features/agents/search.ts';
import { overviewRequest } from '../features/overview/search.ts';
import { reviewRequest } from '../features/review/search.ts';
import {
  newScheduleRequest,
  scheduleRequests,
  listRequest as schedulesRequest,
} from '../features/schedules/search.ts';
import { listRequest as workItemsRequest } from '../features/work-items/list/filters.ts';
import { detailPath } from '../features/work-items/paths.ts';
import { router } from './router.tsx';

interface Address {
  params: Record<string, string>;
  search: Record<string, unknown>;
}

interface FirstRequest {
  path: string;
  query?: Query;
}

type FirstRequests = (address: Address) => readonly FirstRequest[];

/** What a `ListPage` asks for, if its address has no filter. */
const listOf =
  (from: string): FirstRequests =>
  ({ search }) =>
    Object.values(search).some((value) => value !== undefined) ? [] : [{ path: from, query: { limit: 50 } }];

const always =
  (...paths: string[]): FirstRequests =>
  () =>
    paths.map((one) => ({ path: one }));

/** What each page asks for first, in the same words. A page that is not here asks when its code is there. */
const firstRequests: Partial<Record<keyof typeof router.routesByPath, FirstRequests>> = {
  '/': () => [overviewRequest],
  '/review': ({ search }) => [reviewRequest(search)],
  '/schedules': ({ search }) => ((search.view ?? 'list') === 'list' ? [schedulesRequest(search)] : []),
  '/schedules/new': () => [newScheduleRequest],
  '/agents/$agentId/schedules/$scheduleId': ({ params, search }) =>
    scheduleRequests(params.agentId!, params.scheduleId!, search),
  '/work-items': ({ search }) => [workItemsRequest(search)],
  '/work-items/$workItemId': ({ params }) => [{ path: detailPath(params.workItemId!) }],
  '/agents': listOf('/app/api/agents'),
  '/agents/$agentId': ({ params, search }) => agentRequests(params.agentId!, search),
  '/integrations': always('/app/api/integrations'),
  '/integrations/$integrationId': ({ params }) => [
    { path: path`/app/api/integrations/${params.integrationId!}` },
  ],
  '/llm-configurations': listOf('/app/api/llm-configurations'),
  '/tool-servers': listOf('/app/api/tool-servers'),
  '/data-connections': listOf('/api/v2/data-connections'),
  '/semantic-data-models': listOf('/api/v2/semantic-data-models'),
  '/extractions': listOf('/api/v2/extractions'),
  '/api-keys': listOf('/app/api/api-keys'),
  '/users': listOf('/api/v2/users'),
  '/settings': always('/api/v2/advanced-settings/schema', '/api/v2/advanced-settings'),
  '/branding': always('/api/v2/branding'),
  '/audit': listOf('/app/api/audits'),
  '/status': always('/app/api/status'),
};

/**
 * Sends the first requests of the page that the address names, while the code of that page is still loading. Only if the
 * server wrote into the page who is signed in, and that they may: a refusal would be in the audit log.
 */
export const requestFirst = (): void => {
  const me = queryClient.getQueryData<Reply<Me>>([mePath, '']);
  const match = router.matchRoutes(router.latestLocation).at(-1);
  if (!me || !match) return;
  const first = firstRequests[match.fullPath as keyof typeof firstRequests];
  const { operation } = match.staticData;
  if (!first || (operation !== undefined && !me.body.operations.includes(operation))) return;
  for (const request of first(match)) getEarly(request.path, request.query);
};
