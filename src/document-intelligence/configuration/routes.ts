import { z } from 'zod';
import { jsonRoute, type Route, stepsOf, timestamp, validate } from '../../http/index.ts';
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
  jsonRoute({
    id: 'getDocumentIntelligence',
    role: 'admin',
    scope: 'data:read',
    request: `GET ${path}`,
    summary: 'Get the configuration of document intelligence',
    response: configuration,
    cache: 'revision',
    handler: async ({ etag }) => {
      const found = await configurations.read();
      etag(found.revision);
      return toResponse(found);
    },
  }),
  jsonRoute({
    id: 'putDocumentIntelligence',
    role: 'admin',
    scope: 'data',
    request: `PUT ${path}`,
    summary: 'Replace the configuration of document intelligence',
    description:
      'Secrets that are left out are kept if provider and address stay the same. Another address needs them again.',
    body: configurationBody,
    response: configuration,
    cache: 'revision',
    lock: (tx) => configurations.lock(tx),
    handler: async ({ body, actor, transaction, etag }) => {
      const stored = await configurations.read();
      const settings = await configurations.check(body, stored.settings);
      return transaction(async (tx) => {
        const made = await configurations.put(tx, actor, body, settings);
        etag(made.revision);
        return toResponse(made);
      });
    },
  }),
  jsonRoute({
    id: 'deleteDocumentIntelligence',
    role: 'admin',
    scope: 'data',
    request: `DELETE ${path}`,
    summary: 'Delete the configuration of document intelligence',
    otherStatuses: [404],
    lock: (tx) => configurations.lockToRemove(tx),
    handler: ({ actor, transaction }) => transaction((tx) => configurations.remove(tx, actor)),
  }),
  jsonRoute({
    id: 'testDocumentIntelligence',
    role: 'admin',
    scope: 'data',
    request: `POST ${path}/test`,
    summary: 'Test a reader of documents',
    description:
      'Sends a sample document and reads it, within 60 s. Without a body the stored configuration is tested. The response is 200 also when a step fails.',
    body: { schema: testBody, optional: true },
    response: testResult,
    handler: async ({ body, signal }) => {
      const { settings: stored } = await configurations.read();
      const asked = Object.keys(body).length === 0 ? null : validate(configurationBody, body, 'body');
      const settings = asked ? await configurations.check(asked, stored) : stored;
      return configurations.test(settings, signal);
    },
  }),
];
