import type { z } from 'zod';
import { audit } from '../audit/index.ts';
import { type Database, notify, type Tx } from '../database/index.ts';
import { type JsonContext, jsonRoute, type Operation } from '../http/index.ts';
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

type Words = Pick<Operation, 'id' | 'summary' | 'description'>;

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
    {
      transaction,
      etag,
      actor,
    }: Pick<JsonContext<unknown, unknown, unknown, IntegrationRow>, 'transaction' | 'etag' | 'actor'>,
    changesOf: (before: IntegrationRow) => UpdateBody,
  ) => {
    const row = await transaction(async (tx, before) => {
      const row = await integrations.update(tx, actor, before, changesOf(before), {
        shown: api.showsCredentials,
      });
      etag(row.revision);
      return row;
    });
    await changed();
    return show(row);
  };

  const lock = (tx: Tx, { found }: { found: { id: string } }): Promise<IntegrationRow> =>
    integrations.lock(tx, found.id);

  /** Tests an integration as it is stored. If the sample span is accepted, delivery resumes on every replica. */
  const testStored = async ({ found, actor }: JsonContext<IntegrationRow>): Promise<TestResult> => {
    const result = await test(integrations.open(found));
    await db.tx(async (tx) => {
      // One that failed has sent the credentials too.
      await audit(tx, actor, 'integration.test', found.id, { ok: result.ok });
      if (result.ok) await notify(tx, testedChannel, String(found.number));
    });
    return result;
  };

  return {
    create: jsonRoute({
      ...writes,
      ...words.create,
      request: `POST ${api.path}`,
      body: createBody,
      response: { 201: response },
      idempotent: true,
      cache: 'revision',
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
    get: jsonRoute({
      ...reads,
      ...words.get,
      request: `GET ${path}`,
      find,
      response,
      cache: 'revision',
      handler: async ({ found, etag, actor }: JsonContext<ReadRow>) => {
        if (api.showsCredentials) await integrations.auditReads(actor, [found]);
        etag(found.revision);
        return show(found);
      },
    }),
    replace: jsonRoute({
      ...writes,
      ...words.replace,
      request: `PUT ${path}`,
      find,
      body: api.replaceBody,
      response,
      cache: 'revision',
      lock,
      handler: async (context) => {
        const { settings: given, ...rest } = context.body;
        if (given) await integrations.checkAddress(settingsOf(given, context.found));
        return update(context, (before) =>
          withoutUndefined({ ...rest, settings: given && settingsOf(given, before) }),
        );
      },
    }),
    patch: jsonRoute({
      ...writes,
      ...words.patch,
      request: `PATCH ${path}`,
      find,
      body: patchBody,
      response,
      cache: 'revision',
      lock,
      handler: (context) => update(context, () => withoutUndefined(context.body)),
    }),
    test: jsonRoute({
      ...writes,
      ...words.test,
      request: `POST ${path}/test`,
      find,
      ...(api.testBody ? { body: { schema: api.testBody, optional: true } } : {}),
      response: testResult,
      handler: (
        context: JsonContext<IntegrationRow, unknown, { settings?: Given | undefined } | undefined>,
      ) =>
        context.body?.settings ? test(settingsOf(context.body.settings, context.found)) : testStored(context),
    }),
  };
};
