import { z } from 'zod';
import type { Tx } from '../database/index.ts';
import { jsonObject, jsonRoute, queryInteger, type Route, timestamp, validate } from '../http/index.ts';
import { listErrorTimes, listSamples, unusedHealth } from '../telemetry/index.ts';
import { type IntegrationParts, integrationOperations } from './integration-routes.ts';
import { putBody } from './schemas.ts';
import { settingsInput } from './settings.ts';
import { shownIntegration, withoutSecrets, withStoredSecrets } from './shown.ts';
import { type IntegrationRow, listIntegrations, listNamedScopes } from './store.ts';

const reads = { role: 'admin', scope: 'observability:read', base: 'app' } as const;

const path = '/integrations';

const replaceBody = z
  .object({
    ...putBody.shape,
    settings: jsonObject
      .optional()
      .describe('Replaces all settings. A secret that is left out, or is `{"set": true}`, stays as it is.'),
  })
  .meta({ id: 'UpdateIntegrationBody' });

const testBody = z
  .object({
    settings: jsonObject
      .optional()
      .describe('Settings that are not saved yet. A secret that is left out is the stored one.'),
  })
  .meta({ id: 'TestIntegrationBody' });

const sample = z
  .object({
    at: timestamp.describe('The start of the minute.'),
    delivered: z.int().describe('Spans delivered since the integration was created.'),
    dead_lettered: z.int().describe('Spans that became dead letters since the integration was created.'),
    queued: z.int().describe('Spans that waited.'),
    lag_seconds: z.number().describe('The age of the oldest span that waited; 0 if none did.'),
  })
  .meta({ id: 'IntegrationSample' });

/** Integrations for the pages of the application: no response contains a credential. */
export const pageRoutes = (parts: IntegrationParts): Route[] => {
  const { db, integrations, health } = parts;
  const { find } = integrations;

  const show = async (
    rows: readonly IntegrationRow[],
    tx?: Tx,
  ): Promise<z.input<typeof shownIntegration>[]> => {
    const run: typeof db.run = tx ? (fn) => fn(tx) : db.run;
    const ids = rows.map((row) => row.id);
    const [scopes, errorTimes] = await Promise.all([
      run((executor) => listNamedScopes(executor, ids)),
      run(listErrorTimes),
    ]);
    return Promise.all(
      rows.map(async (row) => {
        const { settings, kind: _, ...shown } = integrations.toResponse(row);
        // One that the transaction has created has delivered nothing yet.
        const reported = await health(row, tx ? unusedHealth : undefined);
        return {
          ...shown,
          settings: withoutSecrets(settings),
          scopes: scopes
            .filter(({ integration_id }) => integration_id === row.id)
            .map(({ scope, agent_id, agent_name }) => ({
              scope,
              agent: agent_id === null ? null : { id: agent_id, name: agent_name ?? '' },
            })),
          health: {
            ...reported,
            last_error_at: reported.last_error === null ? null : (errorTimes.get(row.number) ?? null),
          },
        };
      }),
    );
  };

  const operations = integrationOperations(parts, {
    base: 'app',
    path,
    words: {
      create: {
        id: 'createIntegration',
        summary: 'Create an integration',
        description: 'A new integration has the global scope. The response contains no credential.',
      },
      get: { id: 'getIntegration', summary: 'Get an integration without credentials' },
      replace: {
        id: 'updateIntegration',
        summary: 'Update an integration',
        description: 'Fields that are left out stay as they are, and so do secrets.',
      },
      patch: {
        id: 'switchIntegration',
        summary: 'Switch an integration on or off',
        description: 'Switches its export or its debug traces on or off.',
      },
      test: {
        id: 'testIntegration',
        summary: 'Test settings of an integration',
        description:
          'Sends one sample span with settings that are not saved, or with the stored ones: if it is then accepted, a paused delivery resumes.',
      },
    },
    replaceBody,
    testBody,
    settingsOf: (given, row) => {
      const stored = { ...integrations.open(row), is_enabled: row.is_enabled };
      const completed = { settings: withStoredSecrets(given, stored) };
      return validate(z.object({ settings: settingsInput }), completed, 'body').settings;
    },
    response: shownIntegration,
    showsCredentials: false,
    show: async (row, tx) => (await show([row], tx))[0]!,
  });

  return [
    jsonRoute({
      ...reads,
      id: 'listIntegrations',
      request: `GET ${path}`,
      summary: 'List integrations without credentials',
      description: 'Newest first, with their scopes and their health.',
      cache: 'content',
      response: z.object({ data: z.array(shownIntegration) }).meta({ id: 'IntegrationList' }),
      handler: async () => ({
        data: await show(await db.run((executor) => listIntegrations(executor, {}, ''))),
      }),
    }),
    operations.create,
    operations.get,
    operations.replace,
    operations.patch,
    operations.test,
    jsonRoute({
      ...reads,
      id: 'listIntegrationHistory',
      request: `GET ${path}/{integration_id}/history`,
      summary: 'List what an integration delivered, minute by minute',
      description: 'One sample a minute, oldest first. They are kept for 48 hours.',
      find,
      query: z.object({ hours: queryInteger(1, 48, 24).describe('1 to 48, default 24.') }),
      response: z.object({ data: z.array(sample) }).meta({ id: 'IntegrationHistory' }),
      handler: async ({ found, query: { hours } }) => ({
        data: await db.run((executor) => listSamples(executor, found.number, hours)),
      }),
    }),
  ];
};
