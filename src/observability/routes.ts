import { z } from 'zod';
import type { Database } from '../database/index.ts';
import { type Context, type Route, route } from '../http/index.ts';
import { isId } from '../lib/ids.ts';
import type { Integrations, UpdateBody } from './integrations.ts';
import { createBody, integration, listQuery, patchBody, putBody } from './schemas.ts';
import type { IntegrationRow } from './store.ts';

/** Shared by all routes of the feature. */
export const tag = 'Observability';
export const integrationPath = '/observability/integrations/{integration_id}';

export interface IntegrationRouteParts {
  db: Database;
  integrations: Integrations;
  /** After a change: resolves when it is in effect on this replica. */
  changed: () => Promise<void>;
}

/** Integrations (description, 4.2). */
export const integrationRoutes = ({ integrations, changed }: IntegrationRouteParts): Route[] => {
  const { present } = integrations;
  const find = ({ params }: { params: Record<string, string> }) => integrations.find(params.integration_id!);
  const update = async (context: Context<IntegrationRow, unknown, UpdateBody>) => {
    const { found, body, transaction, ifMatch, etag, principal, requestId } = context;
    const updated = await transaction(async (tx) => {
      const before = await integrations.locked(tx, found.id);
      ifMatch(before.revision);
      const row = await integrations.update(tx, { principal, requestId }, before, body);
      etag(row.revision);
      return present(row);
    });
    await changed();
    return updated;
  };
  return [
    route({
      id: 'listObservabilityIntegrations',
      method: 'GET',
      path: '/observability/integrations',
      tag,
      summary: 'The integrations, newest first, credentials included',
      query: listQuery,
      response: z.array(integration),
      handler: async ({ query: { provider, agent_id }, principal, requestId }) => {
        const agentId = agent_id !== undefined && !isId(agent_id) ? null : agent_id;
        const rows = await integrations.list({ principal, requestId }, { provider, agentId });
        return rows.map(present);
      },
    }),
    route({
      id: 'createObservabilityIntegration',
      method: 'POST',
      path: '/observability/integrations',
      tag,
      summary: 'Connect a tracing backend, for all agents',
      body: createBody,
      status: 201,
      response: integration,
      idempotent: true,
      etag: true,
      handler: async ({ body, transaction, etag, principal, requestId }) => {
        await integrations.checkAddress(body.settings);
        const created = await transaction(async (tx) => {
          const row = await integrations.create(tx, { principal, requestId }, body);
          etag(row.revision);
          return present(row);
        });
        await changed();
        return created;
      },
    }),
    route({
      id: 'getObservabilityIntegration',
      method: 'GET',
      path: integrationPath,
      tag,
      summary: 'One integration, credentials included',
      response: integration,
      etag: true,
      handler: async ({ params, etag, principal, requestId }) => {
        const row = await integrations.get({ principal, requestId }, params.integration_id!);
        etag(row.revision);
        return present(row);
      },
    }),
    route({
      id: 'replaceObservabilityIntegration',
      method: 'PUT',
      path: integrationPath,
      tag,
      summary: 'Change an integration; what is left out stays as it is',
      find,
      body: putBody,
      response: integration,
      etag: true,
      handler: async (context) => {
        if (context.body.settings) await integrations.checkAddress(context.body.settings);
        return update(context);
      },
    }),
    route({
      id: 'updateObservabilityIntegration',
      method: 'PATCH',
      path: integrationPath,
      tag,
      summary: 'Switch export or debug traces on or off',
      find,
      body: patchBody,
      response: integration,
      etag: true,
      handler: update,
    }),
    route({
      id: 'deleteObservabilityIntegration',
      method: 'DELETE',
      path: integrationPath,
      tag,
      summary: 'Delete an integration; what it had not delivered is discarded and counted',
      find,
      status: 204,
      etag: true,
      handler: async ({ found, transaction, ifMatch, principal, requestId }) => {
        await transaction(async (tx) => {
          const row = await integrations.locked(tx, found.id);
          ifMatch(row.revision);
          await integrations.remove(tx, { principal, requestId }, row);
        });
        await changed();
      },
    }),
  ];
};
