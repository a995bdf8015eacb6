import { z } from 'zod';
import { jsonRoute, type Route } from '../http/index.ts';
import { isId } from '../lib/ids.ts';
import { type IntegrationParts, integrationOperations } from './integration-routes.ts';
import { health, integration, listQuery, putBody, testBody, testResult } from './schemas.ts';
import { scopeRoutes } from './scope-routes.ts';

const reads = { role: 'admin', scope: 'observability:read' } as const;
const writes = { role: 'admin', scope: 'observability' } as const;

const path = '/observability/integrations';
export const integrationPath = `${path}/{integration_id}`;

/** Integrations for clients of the API: responses have their credentials. */
export const publicRoutes = (parts: IntegrationParts): Route[] => {
  const { integrations, changed, test } = parts;
  const { find, toResponse } = integrations;
  const operations = integrationOperations(parts, {
    base: 'public',
    path,
    words: {
      create: {
        id: 'createObservabilityIntegration',
        summary: 'Create an integration',
        description:
          'Connects a tracing backend. A new integration has the global scope: it applies to all agents.',
      },
      get: {
        id: 'getObservabilityIntegration',
        summary: 'Get an integration',
        description: 'The response contains its credentials.',
      },
      replace: {
        id: 'replaceObservabilityIntegration',
        summary: 'Update an integration',
        description: 'Fields that are left out stay as they are.',
      },
      patch: {
        id: 'updateObservabilityIntegration',
        summary: 'Switch an integration on or off',
        description: 'Switches its export or its debug traces on or off.',
      },
      test: {
        id: 'testObservabilityIntegration',
        summary: 'Test an integration',
        description: 'Sends one sample span. If it is accepted, a paused delivery resumes.',
      },
    },
    replaceBody: putBody,
    testBody: null,
    settingsOf: (given) => given,
    response: integration,
    showsCredentials: true,
    show: async (row) => toResponse(row),
  });
  return [
    jsonRoute({
      ...reads,
      id: 'listObservabilityIntegrations',
      request: `GET ${path}`,
      summary: 'List integrations',
      description: 'Newest first. The response contains their credentials.',
      query: listQuery,
      response: z.array(integration),
      handler: async ({ query: { provider, agent_id }, actor }) => {
        const agentId = agent_id !== undefined && !isId(agent_id) ? null : agent_id;
        const rows = await integrations.list(actor, { provider, agentId });
        return rows.map(toResponse);
      },
    }),
    operations.create,
    operations.get,
    operations.replace,
    operations.patch,
    jsonRoute({
      ...writes,
      id: 'deleteObservabilityIntegration',
      request: `DELETE ${integrationPath}`,
      summary: 'Delete an integration',
      description: 'Spans that it has not delivered are discarded and counted.',
      find,
      lock: (tx, { found }) => integrations.lock(tx, found.id),
      handler: async ({ transaction, actor }) => {
        await transaction((tx, row) => integrations.delete(tx, actor, row));
        await changed();
      },
    }),
    ...scopeRoutes(parts, integrationPath),
    operations.test,
    jsonRoute({
      ...writes,
      id: 'testObservabilitySettings',
      request: `POST ${path}/test`,
      summary: 'Test integration settings',
      description: 'Sends one sample span with settings that are not saved.',
      body: testBody,
      response: testResult,
      handler: ({ body }) => test(body.settings),
    }),
    jsonRoute({
      ...reads,
      id: 'getObservabilityHealth',
      request: `GET ${integrationPath}/health`,
      summary: 'Get the health of an integration',
      description:
        'Returns whether it delivers, and how many spans it delivered, lost or still has to deliver.',
      find,
      response: health,
      handler: ({ found }) => parts.health(found),
    }),
  ];
};
