import { z } from 'zod';
import { type Route, route, stepsOf, timestamp, validate } from '../../http/index.ts';
import { isObject } from '../../lib/objects.ts';
import { type Configurations, toResponse } from './configuration.ts';
import { configurationBody, providers } from './settings.ts';

const configuration = z
  .object({
    configured: z.boolean().describe('Without a configuration documents are read by the platform itself.'),
    provider: z.enum(providers),
    settings: z
      .object({
        endpoint: z.string().optional(),
        url: z.string().optional(),
        api_key_set: z.boolean().optional(),
        header_names: z.array(z.string()).optional(),
      })
      .describe('Without secrets.'),
    llm_id: z.string().nullable(),
    ocr: z.enum(['auto', 'off']),
    ocr_languages: z.array(z.string()),
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'DocumentIntelligence' });

const testResult = z
  .object({
    ok: z.boolean(),
    steps: stepsOf(['address', 'proxy', 'read']),
  })
  .meta({ id: 'DocumentIntelligenceTest' });

/** Nothing, or what is to be tested, which the handler checks. */
const testBody = z.custom<object>(isObject, 'must be an object').meta({ openapi: configurationBody });

const path = '/document-intelligence';

export const configurationRoutes = (configurations: Configurations): Route[] => [
  route({
    id: 'getDocumentIntelligence',
    role: 'admin',
    scope: 'data:read',
    method: 'GET',
    path,
    summary: 'Get the configuration of document intelligence',
    response: configuration,
    etag: true,
    handler: async ({ etag }) => {
      const found = await configurations.read();
      etag(found.revision);
      return toResponse(found);
    },
  }),
  route({
    id: 'putDocumentIntelligence',
    role: 'admin',
    scope: 'data',
    method: 'PUT',
    path,
    summary: 'Replace the configuration of document intelligence',
    description:
      'Secrets that are left out are kept if provider and address stay the same. Another address needs them again.',
    body: configurationBody,
    response: configuration,
    etag: true,
    handler: async ({ body, actor, transaction, ifMatch, etag }) => {
      const stored = await configurations.read();
      const settings = await configurations.check(body, stored.settings);
      return transaction(async (tx) => {
        ifMatch((await configurations.lock(tx)).revision);
        const made = await configurations.put(tx, actor, body, settings);
        etag(made.revision);
        return toResponse(made);
      });
    },
  }),
  route({
    id: 'deleteDocumentIntelligence',
    role: 'admin',
    scope: 'data',
    method: 'DELETE',
    path,
    summary: 'Delete the configuration of document intelligence',
    otherStatuses: [404],
    status: 204,
    etag: true,
    handler: ({ actor, transaction, ifMatch }) =>
      transaction(async (tx) => {
        const { revision, updated_at } = await configurations.lock(tx);
        // A missing configuration is a 404, whatever its ETag was.
        if (updated_at !== null) ifMatch(revision);
        await configurations.remove(tx, actor);
      }),
  }),
  route({
    id: 'testDocumentIntelligence',
    role: 'admin',
    scope: 'data',
    method: 'POST',
    path: `${path}/test`,
    summary: 'Test a reader of documents',
    description:
      'Sends a sample document and reads it, within 60 s. Without a body the stored configuration is tested. The response is 200 also when a step fails.',
    body: testBody,
    bodyOptional: true,
    response: testResult,
    handler: async ({ body, signal }) => {
      const { settings: stored } = await configurations.read();
      const asked = Object.keys(body).length === 0 ? null : validate(configurationBody, body, 'body');
      const settings = asked ? await configurations.check(asked, stored) : stored;
      return configurations.test(settings, signal);
    },
  }),
];
