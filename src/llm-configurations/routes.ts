import type { Database } from '../database/index.ts';
import { type Context, finder, listPage, pageQuery, type Route, route } from '../http/index.ts';
import {
  checkKind,
  createLlm,
  deleteLlm,
  lockLlm,
  updateDefaultLlm,
  updateLlm,
} from './llm-configurations.ts';
import {
  createBody,
  defaultsBody,
  llmConfiguration,
  llmDefaults,
  llmPage,
  llmTest,
  updateBody,
} from './schemas.ts';
import type { LlmSettingsStore, ResolvedLlm } from './settings.ts';
import { findDefaultLlm, findLlm, type LlmRow, listLlms } from './store.ts';

/** Sends the model one short prompt. `detail` is shown to the admin, so it contains no secret. Never rejects. */
export type ProbeLlm = (llm: ResolvedLlm) => Promise<{ ok: boolean; detail: string }>;

const path = '/llm-configurations';
const onePath = `${path}/{llm_id}`;

export const llmRoutes = (db: Database, settings: LlmSettingsStore, probe: ProbeLlm): Route[] => {
  const find = finder(db, 'LLM configuration', 'llm_id', findLlm);

  const adminFields = (row: LlmRow) => {
    const opened = settings.open(row);
    const endpoint = opened.kind === 'openai_compatible' ? opened : undefined;
    return {
      base_url: endpoint?.base_url ?? null,
      api_key_set: endpoint?.api_key !== undefined,
      header_names: Object.keys(endpoint?.headers ?? {}),
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
    route({
      id: 'listLlmConfigurations',
      role: 'builder',
      method: 'GET',
      path,
      summary: 'List LLM configurations',
      query: pageQuery,
      response: llmPage,
      handler: listPage(db, listLlms, toResponse),
    }),
    route({
      id: 'createLlmConfiguration',
      role: 'admin',
      method: 'POST',
      path,
      summary: 'Create an LLM configuration',
      body: createBody,
      response: llmConfiguration,
      etag: true,
      handler: (context) =>
        context.transaction(async (tx) => {
          const row = await createLlm(tx, context.actor, settings, context.body);
          context.etag(row.revision);
          return toResponse(row, context);
        }),
    }),
    route({
      id: 'getLlmDefaults',
      role: 'admin',
      method: 'GET',
      path: `${path}/defaults`,
      summary: 'Get the default LLM configuration',
      response: llmDefaults,
      handler: async () => ({ llm_id: (await db.run(findDefaultLlm)).id }),
    }),
    route({
      id: 'setLlmDefaults',
      role: 'admin',
      method: 'PUT',
      path: `${path}/defaults`,
      summary: 'Set the default LLM configuration',
      body: defaultsBody,
      response: llmDefaults,
      handler: ({ body: { llm_id }, transaction, actor }) =>
        transaction(async (tx) => {
          await updateDefaultLlm(tx, actor, llm_id);
          return { llm_id };
        }),
    }),
    route({
      id: 'getLlmConfiguration',
      role: 'builder',
      method: 'GET',
      path: onePath,
      summary: 'Get an LLM configuration',
      description: 'The response does not contain its secrets.',
      find,
      response: llmConfiguration,
      etag: true,
      handler: async (context) => {
        context.etag(context.found.revision);
        return toResponse(context.found, context);
      },
    }),
    route({
      id: 'updateLlmConfiguration',
      role: 'admin',
      method: 'PATCH',
      path: onePath,
      summary: 'Update an LLM configuration',
      find,
      body: updateBody,
      response: llmConfiguration,
      etag: true,
      handler: (context) =>
        context.transaction(async (tx) => {
          const before = await lockLlm(tx, context.found.id);
          checkKind(before, context.body);
          context.ifMatch(before.revision);
          const row = await updateLlm(tx, context.actor, settings, before, context.body);
          context.etag(row.revision);
          return toResponse(row, context);
        }),
    }),
    route({
      id: 'deleteLlmConfiguration',
      role: 'admin',
      method: 'DELETE',
      path: onePath,
      summary: 'Delete an LLM configuration',
      description: 'Returns 412 while it is the default or agents use it.',
      find,
      status: 204,
      otherStatuses: [412],
      etag: true,
      handler: ({ found, transaction, ifMatch, actor }) =>
        transaction(async (tx) => {
          const row = await lockLlm(tx, found.id);
          ifMatch(row.revision);
          await deleteLlm(tx, actor, row);
        }),
    }),
    route({
      id: 'testLlmConfiguration',
      role: 'admin',
      method: 'POST',
      path: `${onePath}/test`,
      summary: 'Test an LLM configuration',
      description: 'Sends the model one short prompt and returns whether it replied.',
      find,
      response: llmTest,
      handler: async ({ found }) => {
        const startedAt = performance.now();
        const { ok, detail } = await probe(settings.resolve(found));
        return { ok, detail, latency_ms: Math.round(performance.now() - startedAt) };
      },
    }),
  ];
};
