import type { Services } from '../feature.ts';
import { jsonRoute, listPage, type Route } from '../http/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import { type AlertChanges, seesAll } from './alerts.ts';
import { acknowledgeBody, alert, alertPage, listQuery, toAlert } from './schemas.ts';
import { type AlertRow, findAlert, listAlerts } from './store.ts';

const path = '/alerts';
const onePath = `${path}/{alert_id}`;

const reads = { role: 'member', scope: 'alerts:read', base: 'v2' } as const;

interface Parts extends Pick<Services, 'db' | 'publicUrl'> {
  changes: AlertChanges;
}

export const alertRoutes = ({ db, publicUrl, changes }: Parts): Route[] => {
  const find = async ({ params, principal }: { params: Record<string, string>; principal: Principal }) => {
    const alertId = params.alert_id!;
    const found = isId(alertId)
      ? await db.run((executor) => findAlert(executor, alertId, seesAll(principal)))
      : undefined;
    if (!found) throw notFound('alert');
    return found;
  };
  const toResponse = (row: AlertRow) => toAlert(row, publicUrl());
  return [
    jsonRoute({
      ...reads,
      id: 'listAlerts',
      request: `GET ${path}`,
      summary: 'List alerts',
      query: listQuery,
      response: alertPage,
      handler: listPage(
        db,
        (executor, query, { principal }) => listAlerts(executor, query, seesAll(principal)),
        toResponse,
      ),
    }),
    jsonRoute({
      ...reads,
      id: 'getAlert',
      request: `GET ${onePath}`,
      summary: 'Get an alert',
      find,
      response: alert,
      handler: async ({ found }) => toResponse(found),
    }),
    jsonRoute({
      id: 'acknowledgeAlert',
      role: 'builder',
      scope: 'alerts',
      base: 'v2',
      request: `POST ${onePath}/acknowledge`,
      summary: 'Acknowledge an alert',
      description:
        'It goes on firing, and no one else is told of it. Acknowledged again it stays as it is. Returns 412 if it is resolved.',
      find,
      body: { schema: acknowledgeBody, optional: true },
      otherStatuses: [412],
      response: alert,
      handler: ({ found, body, actor, transaction }) =>
        transaction(async (tx) => toResponse(await changes.acknowledge(tx, actor, found.id, body.note))),
    }),
  ];
};
