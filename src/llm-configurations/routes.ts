import type { Database } from '../database/index.ts';
import { type Context, finder, jsonRoute, listPage, pageQuery, type Route } from '../http/index.ts';
import { limitsOf } from './fields.ts';
import { effectiveBaseUrl, plainFields, type ResolvedLlm } from './kinds.ts';
import {
  createLlm,
  deleteLlm,
  hasSecret,
  lockLlm,
  lockToUpdate,
  updateDefaultLlm,
  updateLlm,
} from './llm-configurations.ts';
import { pageRoutes } from './page-routes.ts';
import {
  createBody,
  defaultsBody,
  llmConfiguration,
  llmDefaults,
  llmPage,
  llmTest,
  type testSteps,
  updateBody,
} from './schemas.ts';
import type { LlmSettingsStore } from './settings.ts';
import { findDefaultLlm, findLlm, type LlmRow, listLlms, updateTestPassed } from './store.ts';

/** The result of a test. Each `detail` is shown to the admin, so it contains no secret. */
interface ProbeResult {
  ok: boolean;
  detail: string;
  /** In order; the first that failed is the last. */
  steps: { step: (typeof testSteps)[number]; ok: boolean; detail: string }[];
}

/** Tries what the runtime will do with the model, within 30 s. Rejects with 412 if a budget refuses the calls. */
export type ProbeLlm = (llm: ResolvedLlm) => Promise<ProbeResult>;

const path = '/llm-configurations';
const onePath = `${path}/{llm_id}`;

export const llmRoutes = (db: Database, settings: LlmSettingsStore, probe: ProbeLlm): Route[] => {
  const find = finder(db, 'LLM configuration', 'llm_id', findLlm);

  const adminFields = (row: LlmRow) => {
    const opened = settings.open(row);
    const effective: Record<string, unknown> = { ...opened, ...settings.resolve(row) };
    return {
      ...Object.fromEntries(plainFields.map((field) => [field, effective[field] ?? null])),
      base_url: effectiveBaseUrl(opened),
      api_key_set: hasSecret(opened, 'api_key'),
      secret_access_key_set: hasSecret(opened, 'secret_access_key'),
      session_token_set: hasSecret(opened, 'session_token'),
      header_names: Object.keys(opened.headers ?? {}),
      ...limitsOf(opened),
      created_at: row.created_at,
      updated_at: row.updated_at,
    };
  };
  const toResponse = (row: LlmRow, { principal }: Pick<Context, 'principal'>) => ({
    id: row.id,
    name: row.name,
    kind: row.kind,
    model: row.model,
    ...(principal.role === 'admin' ? adminFields(row) : {}),
  });

  return [
    jsonRoute({
      id: 'listLlmConfigurations',
      role: 'builder',
      scope: 'llm:read',
      request: `GET ${path}`,
      summary: 'List LLM configurations',
      query: pageQuery,
      response: llmPage,
      handler: listPage(db, (executor, page) => listLlms(executor, page), toResponse),
    }),
    jsonRoute({
      id: 'createLlmConfiguration',
      role: 'admin',
      scope: 'llm',
      request: `POST ${path}`,
      summary: 'Create an LLM configuration',
      body: createBody,
      response: llmConfiguration,
      idempotent: true,
      cache: 'revision',
      handler: (context) =>
        context.transaction(async (tx) => {
          const row = await createLlm(tx, context.actor, settings, context.body);
          context.etag(row.revision);
          return toResponse(row, context);
        }),
    }),
    jsonRoute({
      id: 'getLlmDefaults',
      role: 'admin',
      scope: 'llm:read',
      request: `GET ${path}/defaults`,
      summary: 'Get the default LLM configuration',
      response: llmDefaults,
      handler: async () => ({ llm_id: (await db.run(findDefaultLlm)).id }),
    }),
    jsonRoute({
      id: 'setLlmDefaults',
      role: 'admin',
      scope: 'llm',
      request: `PUT ${path}/defaults`,
      summary: 'Set the default LLM configuration',
      body: defaultsBody,
      response: llmDefaults,
      handler: ({ body: { llm_id }, transaction, actor }) =>
        transaction(async (tx) => {
          await updateDefaultLlm(tx, actor, llm_id);
          return { llm_id };
        }),
    }),
    jsonRoute({
      id: 'getLlmConfiguration',
      role: 'builder',
      scope: 'llm:read',
      request: `GET ${onePath}`,
      summary: 'Get an LLM configuration',
      description: 'The response does not contain its secrets.',
      find,
      response: llmConfiguration,
      cache: 'revision',
      handler: async (context) => {
        context.etag(context.found.revision);
        return toResponse(context.found, context);
      },
    }),
    jsonRoute({
      id: 'updateLlmConfiguration',
      role: 'admin',
      scope: 'llm',
      request: `PATCH ${onePath}`,
      summary: 'Update an LLM configuration',
      find,
      body: updateBody,
      response: llmConfiguration,
      cache: 'revision',
      lock: (tx, { found, body }) => lockToUpdate(tx, settings, found.id, body),
      handler: (context) =>
        context.transaction(async (tx, checked) => {
          const row = await updateLlm(tx, context.actor, settings, checked);
          context.etag(row.revision);
          return toResponse(row, context);
        }),
    }),
    jsonRoute({
      id: 'deleteLlmConfiguration',
      role: 'admin',
      scope: 'llm',
      request: `DELETE ${onePath}`,
      summary: 'Delete an LLM configuration',
      description: 'Returns 412 while it is the default, or agents or document intelligence use it.',
      find,
      otherStatuses: [412],
      lock: (tx, { found }) => lockLlm(tx, found.id),
      handler: ({ transaction, actor }) => transaction((tx, row) => deleteLlm(tx, actor, row)),
    }),
    jsonRoute({
      id: 'testLlmConfiguration',
      role: 'admin',
      scope: 'llm',
      request: `POST ${onePath}/test`,
      summary: 'Test an LLM configuration',
      description:
        'Connects, and asks the model for a reply, for a tool call and for a streamed reply, within 30 s. The response is 200 also when a step fails.',
      otherStatuses: [412],
      find,
      response: llmTest,
      handler: async ({ found, transaction }) => {
        const startedAt = performance.now();
        const result = await probe(settings.resolve(found));
        if (result.ok) await transaction((tx) => updateTestPassed(tx, found));
        return { ...result, latency_ms: Math.round(performance.now() - startedAt) };
      },
    }),
    ...pageRoutes(db, toResponse),
  ];
};
