import type { z } from 'zod';
import { audit } from '../audit/index.ts';
import { type Database, notify, type Tx } from '../database/index.ts';
import { type Context, type Route, route } from '../http/index.ts';
import { withoutUndefined } from '../lib/objects.ts';
import type { Health } from '../telemetry/index.ts';
import type { TestResult } from './connection-test.ts';
import type { Integrations, UpdateBody } from './integrations.ts';
import { createBody, patchBody, type putBody, testResult } from './schemas.ts';
import type { ProviderSettings, Settings } from './settings.ts';
import type { IntegrationRow, ReadRow } from './store.ts';

/** The channel that notifies replicas of the number of an integration whose test succeeded. */
export const testedChannel = 'observability_tested';

export interface IntegrationParts {
  db: Database;
  integrations: Integrations;
  /** Called after a change. Resolves when the change is in effect on this replica. */
  changed: () => Promise<void>;
  test: (settings: ProviderSettings) => Promise<TestResult>;
  /** The health of an integration: `reported`, or else what replicas last reported. */
  health: (row: Pick<IntegrationRow, 'number' | 'is_enabled'>, reported?: Health) => Promise<Health>;
}

type Words = Pick<Route, 'id' | 'summary' | 'description'>;

/** An API of integrations: its words, and how it takes settings and shows integrations. */
interface Api<Given, Shown extends z.ZodType> {
  base: 'public' | 'app';
  path: string;
  words: Record<'create' | 'get' | 'replace' | 'patch' | 'test', Words>;
  /** The body of a replacement. */
  replaceBody: z.ZodType<Omit<z.output<typeof putBody>, 'settings'> & { settings?: Given | undefined }>;
  /** The body of a test; null: it takes none. */
  testBody: z.ZodType<{ settings?: Given | undefined }> | null;
  /** The settings that a body stands for, for an integration that has settings already. */
  settingsOf(given: Given, row: IntegrationRow): Settings;
  response: Shown;
  /** Responses have credentials: reads are audited. */
  showsCredentials: boolean;
  /** `tx`: the transaction that has created the integration. */
  show(row: IntegrationRow, tx?: Tx): Promise<z.input<Shown>>;
}

/** The operations on one integration, for an API of them: whatever it shows, the rules are the same. */
export const integrationOperations = <Given, Shown extends z.ZodType>(
  { db, integrations, changed, test }: IntegrationParts,
  api: Api<Given, Shown>,
) => {
  const { words, show, settingsOf, response } = api;
  const { find } = integrations;
  const reads = { role: 'admin', scope: 'observability:read', base: api.base } as const;
  const writes = { role: 'admin', scope: 'observability', base: api.base } as const;
  const path = `${api.path}/{integration_id}`;

  const update = async (
    { found, transaction, ifMatch, etag, actor }: Context<IntegrationRow>,
    changesOf: (before: IntegrationRow) => UpdateBody,
  ) => {
    const row = await transaction(async (tx) => {
      const before = await integrations.lock(tx, found.id);
      ifMatch(before.revision);
      const row = await integrations.update(tx, actor, before, changesOf(before), {
        shown: api.showsCredentials,
      });
      etag(row.revision);
      return row;
    });
    await changed();
    return show(row);
  };

  /** Tests an integration as it is stored. If the sample span is accepted, delivery resumes on every replica. */
  const testStored = async ({ found, actor }: Context<IntegrationRow>): Promise<TestResult> => {
    const result = await test(integrations.open(found));
    await db.tx(async (tx) => {
      // One that failed has sent the credentials too.
      await audit(tx, actor, 'integration.test', found.id, { ok: result.ok });
      if (result.ok) await notify(tx, testedChannel, String(found.number));
    });
    return result;
  };

  return {
    create: route({
      ...writes,
      ...words.create,
      method: 'POST',
      path: api.path,
      body: createBody,
      status: 201,
      response,
      idempotent: true,
      etag: true,
      handler: async ({ body, transaction, etag, actor }) => {
        await integrations.checkAddress(body.settings);
        const created = await transaction(async (tx) => {
          const row = await integrations.create(tx, actor, body);
          etag(row.revision);
          return show(row, tx);
        });
        await changed();
        return created;
      },
    }),
    get: route({
      ...reads,
      ...words.get,
      method: 'GET',
      path,
      find,
      response,
      etag: true,
      handler: async ({ found, etag, actor }: Context<ReadRow>) => {
        if (api.showsCredentials) await integrations.auditReads(actor, [found]);
        etag(found.revision);
        return show(found);
      },
    }),
    replace: route({
      ...writes,
      ...words.replace,
      method: 'PUT',
      path,
      find,
      body: api.replaceBody,
      response,
      etag: true,
      handler: async (context) => {
        const { settings: given, ...rest } = context.body;
        if (given) await integrations.checkAddress(settingsOf(given, context.found));
        return update(context, (before) =>
          withoutUndefined({ ...rest, settings: given && settingsOf(given, before) }),
        );
      },
    }),
    patch: route({
      ...writes,
      ...words.patch,
      method: 'PATCH',
      path,
      find,
      body: patchBody,
      response,
      etag: true,
      handler: (context) => update(context, () => withoutUndefined(context.body)),
    }),
    test: route({
      ...writes,
      ...words.test,
      method: 'POST',
      path: `${path}/test`,
      find,
      ...(api.testBody ? { body: api.testBody, bodyOptional: true } : {}),
      response: testResult,
      handler: (context: Context<IntegrationRow, unknown, { settings?: Given | undefined } | undefined>) =>
        context.body?.settings ? test(settingsOf(context.body.settings, context.found)) : testStored(context),
    }),
  };
};
