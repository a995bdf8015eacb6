import { z } from 'zod';
import type { Database, Tx } from '../database/index.ts';
import {
  type Context,
  finder,
  jsonObject,
  queryInteger,
  type Route,
  route,
  timestamp,
  validate,
} from '../http/index.ts';
import { withoutUndefined } from '../lib/objects.ts';
import { listErrorTimes, listSamples, unusedHealth } from '../telemetry/index.ts';
import type { UpdateBody } from './integrations.ts';
import type { IntegrationRouteParts } from './routes.ts';
import { createBody, patchBody, putBody, testResult } from './schemas.ts';
import { type Settings, settingsInput } from './settings.ts';
import { shownIntegration, withoutSecrets, withStoredSecrets } from './shown.ts';
import { findIntegration, type IntegrationRow, listIntegrations, listNamedScopes } from './store.ts';
import { type TestParts, testStored } from './test-routes.ts';

const path = '/integrations/{integration_id}';

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

/** The integrations as the application shows them: no response contains a credential. */
export const appRoutes = (parts: IntegrationRouteParts & TestParts): Route[] => {
  const { db, integrations, changed, healthOf } = parts;
  const find = finder(db, 'integration', 'integration_id', (executor, id) =>
    findIntegration(executor, id, ''),
  );

  const show = async (
    rows: readonly IntegrationRow[],
    run: Database['run'] = db.run,
    health = healthOf,
  ): Promise<z.input<typeof shownIntegration>[]> => {
    const ids = rows.map((row) => row.id);
    const [scopes, errorTimes] = await Promise.all([
      run((executor) => listNamedScopes(executor, ids)),
      run(listErrorTimes),
    ]);
    return Promise.all(
      rows.map(async (row) => {
        const { settings, kind: _, ...shown } = integrations.toResponse(row);
        const reported = (await health(row.number)) ?? unusedHealth;
        return {
          ...shown,
          settings: withoutSecrets(settings) as z.input<typeof shownIntegration>['settings'],
          scopes: scopes
            .filter(({ integration_id }) => integration_id === row.id)
            .map(({ scope, agent_id, agent_name }) => ({
              scope,
              agent: agent_id === null ? null : { id: agent_id, name: agent_name ?? '' },
            })),
          health: {
            ...reported,
            ...(row.is_enabled ? {} : { state: 'disabled' as const }),
            last_error_at: reported.last_error === null ? null : (errorTimes.get(row.number) ?? null),
          },
        };
      }),
    );
  };

  const stored = (row: IntegrationRow): Settings => ({
    ...integrations.open(row),
    is_enabled: row.is_enabled,
  });
  const completed = (given: Record<string, unknown>, row: IntegrationRow): Settings =>
    validate(
      z.object({ settings: settingsInput }),
      { settings: withStoredSecrets(given, stored(row)) },
      'body',
    ).settings;

  const update = async (
    { found, transaction, ifMatch, etag, actor }: Context<IntegrationRow>,
    changes: (before: IntegrationRow, tx: Tx) => Promise<UpdateBody>,
  ) => {
    const row = await transaction(async (tx) => {
      const before = await integrations.lock(tx, found.id);
      ifMatch(before.revision);
      const row = await integrations.update(tx, actor, before, await changes(before, tx), { shown: false });
      etag(row.revision);
      return row;
    });
    await changed();
    return (await show([row]))[0]!;
  };

  return [
    route({
      id: 'listIntegrations',
      role: 'admin',
      scope: 'observability:read',
      method: 'GET',
      base: 'app',
      path: '/integrations',
      summary: 'List integrations without credentials',
      description: 'Newest first, with their scopes and their health.',
      conditional: true,
      response: z.object({ data: z.array(shownIntegration) }).meta({ id: 'IntegrationList' }),
      handler: async () => ({
        data: await show(await db.run((executor) => listIntegrations(executor, {}, ''))),
      }),
    }),
    route({
      id: 'createIntegration',
      role: 'admin',
      scope: 'observability',
      method: 'POST',
      base: 'app',
      path: '/integrations',
      summary: 'Create an integration',
      description: 'A new integration has the global scope. The response contains no credential.',
      body: createBody,
      status: 201,
      response: shownIntegration,
      idempotent: true,
      etag: true,
      handler: async ({ body, transaction, etag, actor }) => {
        await integrations.checkAddress(body.settings);
        const created = await transaction(async (tx) => {
          const row = await integrations.create(tx, actor, body);
          etag(row.revision);
          // It has delivered nothing yet.
          return (
            await show(
              [row],
              (fn) => fn(tx),
              async () => undefined,
            )
          )[0]!;
        });
        await changed();
        return created;
      },
    }),
    route({
      id: 'getIntegration',
      role: 'admin',
      scope: 'observability:read',
      method: 'GET',
      base: 'app',
      path,
      summary: 'Get an integration without credentials',
      find,
      response: shownIntegration,
      etag: true,
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return (await show([found]))[0]!;
      },
    }),
    route({
      id: 'updateIntegration',
      role: 'admin',
      scope: 'observability',
      method: 'PUT',
      base: 'app',
      path,
      summary: 'Update an integration',
      description: 'Fields that are left out stay as they are, and so do secrets.',
      find,
      body: replaceBody,
      response: shownIntegration,
      etag: true,
      handler: async (context) => {
        const { settings: given, ...rest } = context.body;
        if (given) await integrations.checkAddress(completed(given, context.found));
        return update(context, async (before) =>
          withoutUndefined({ ...rest, settings: given && completed(given, before) }),
        );
      },
    }),
    route({
      id: 'switchIntegration',
      role: 'admin',
      scope: 'observability',
      method: 'PATCH',
      base: 'app',
      path,
      summary: 'Switch an integration on or off',
      description: 'Switches its export or its debug traces on or off.',
      find,
      body: patchBody,
      response: shownIntegration,
      etag: true,
      handler: (context) => update(context, async () => withoutUndefined(context.body)),
    }),
    route({
      id: 'testIntegration',
      role: 'admin',
      scope: 'observability',
      method: 'POST',
      base: 'app',
      path: `${path}/test`,
      summary: 'Test settings of an integration',
      description:
        'Sends one sample span with settings that are not saved, or with the stored ones: if it is then accepted, a paused delivery resumes.',
      find,
      body: testBody,
      bodyOptional: true,
      response: testResult,
      handler: ({ found, body, actor }) =>
        body.settings ? parts.test(completed(body.settings, found)) : testStored(parts, found, actor),
    }),
    route({
      id: 'listIntegrationHistory',
      role: 'admin',
      scope: 'observability:read',
      method: 'GET',
      base: 'app',
      path: `${path}/history`,
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
