import type { Executor, Tx } from '../database/index.ts';
import type { Services } from '../feature.ts';
import { jsonRoute, listPage, type Route } from '../http/index.ts';
import type { Announcer, SentMessage } from '../lib/announcer.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { type Principal, roleAllows } from '../lib/principal.ts';
import { type AlertChanges, seesAll } from './alerts.ts';
import { acknowledgeBody, alert, alertPage, listQuery, toAlert } from './schemas.ts';
import { type AlertRow, findAlert, listAlerts } from './store.ts';

const path = '/alerts';
const onePath = `${path}/{alert_id}`;

const reads = { role: 'member', scope: 'alerts:read', base: 'v2' } as const;

interface Parts extends Pick<Services, 'db' | 'publicUrl'> {
  changes: AlertChanges;
  /** What knows the messages of alerts; null: there are none. */
  announcer: Announcer<Executor, Tx> | null;
}

export const alertRoutes = ({ db, publicUrl, changes, announcer }: Parts): Route[] => {
  const find = async ({ params, principal }: { params: Record<string, string>; principal: Principal }) => {
    const alertId = params.alert_id!;
    const found = isId(alertId)
      ? await db.run((executor) => findAlert(executor, alertId, seesAll(principal)))
      : undefined;
    if (!found) throw notFound('alert');
    return found;
  };
  /** Alerts as the principal sees them: who is told is for builders, as with reviews. */
  const shownTo = async (executor: Executor, principal: Principal, rows: readonly AlertRow[]) => {
    const ids = rows.map(({ id }) => id);
    const messages =
      announcer && roleAllows(principal.role, 'builder')
        ? await announcer.messagesOf(executor, 'alert', ids)
        : new Map<string, SentMessage[]>();
    return rows.map((row) => toAlert(row, publicUrl(), messages.get(row.id)));
  };
  const showOne = async (executor: Executor, principal: Principal, row: AlertRow) =>
    (await shownTo(executor, principal, [row]))[0]!;
  return [
    jsonRoute({
      ...reads,
      id: 'listAlerts',
      request: `GET ${path}`,
      summary: 'List alerts',
      query: listQuery,
      response: alertPage,
      handler: listPage(db, async (executor, query, { principal }) =>
        shownTo(executor, principal, await listAlerts(executor, query, seesAll(principal))),
      ),
    }),
    jsonRoute({
      ...reads,
      id: 'getAlert',
      request: `GET ${onePath}`,
      summary: 'Get an alert',
      find,
      response: alert,
      handler: ({ found, principal }) => db.run((executor) => showOne(executor, principal, found)),
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
        transaction(async (tx) =>
          showOne(tx, actor.principal, await changes.acknowledge(tx, actor, found.id, body.note)),
        ),
    }),
  ];
};
