import { type Me, mePath } from '../api/me.ts';
import { getEarly, queryClient } from '../api/query.ts';
import type { Reply } from '../api/request.ts';
import { router } from './router.tsx';

/**
 * Sends the first request of the page that the address names, while the code of that page is still loading. Only if the
 * server wrote into the page who is signed in, and that they may: a refusal would be in the audit log.
 */
export const requestFirst = (): void => {
  const me = queryClient.getQueryData<Reply<Me>>([mePath, '']);
  const match = router.matchRoutes(router.latestLocation).at(-1);
  const { first, operation } = match?.staticData ?? {};
  if (!me || !match || !first) return;
  if (operation !== undefined && !me.body.operations.includes(operation)) return;
  const request = first(match);
  if (request) getEarly(request.path, request.query);
};
