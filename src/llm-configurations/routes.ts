import type { Database } from '../database/index.ts';
import { pageQuery, type Route, readCursor, route, toPage } from '../http/index.ts';
import type { Vault } from '../lib/crypto.ts';
import { notFound, unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import {
  changeDefault,
  createLlm,
  headerNames,
  type ResolvedLlm,
  removeLlm,
  resolve,
  updateLlmConfiguration,
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
import { findDefaultLlm, findLlm, type LlmRow, listLlms } from './store.ts';

/** Asks the model for one short answer. `detail` is shown to the admin: it holds no secret. Never rejects. */
export type ProbeLlm = (llm: ResolvedLlm) => Promise<{ ok: boolean; detail: string }>;

const tag = 'LLM configurations';

export const llmRoutes = (db: Database, vault: Vault, probe: ProbeLlm): Route[] => {
  const present =
    (principal: Principal) =>
    ({ id, name, kind, model, ...row }: LlmRow) => ({
      id,
      name,
      kind,
      model,
      ...(principal.role === 'admin'
        ? {
            base_url: row.base_url,
            api_key_set: row.api_key !== null,
            header_names: headerNames(vault, { id, name, kind, model, ...row }),
            created_at: row.created_at,
            updated_at: row.updated_at,
          }
        : {}),
    });
  const find = async ({ params }: { params: Record<string, string> }): Promise<LlmRow> => {
    const id = params.llm_id!;
    const row = isId(id) ? await db.run((executor) => findLlm(executor, id)) : undefined;
    if (!row) throw notFound('LLM configuration');
    return row;
  };

  return [
    route({
      id: 'listLlmConfigurations',
      method: 'GET',
      path: '/llm-configurations',
      tag,
      summary: 'The LLM configurations, newest first',
      query: pageQuery,
      response: llmPage,
      handler: async ({ query, principal }) => {
        const page = { limit: query.limit, before: readCursor(query.next) };
        return toPage(await db.run((r) => listLlms(r, page)), query.limit, present(principal));
      },
    }),
    route({
      id: 'createLlmConfiguration',
      method: 'POST',
      path: '/llm-configurations',
      tag,
      summary: 'Make an LLM configuration',
      body: createBody,
      response: llmConfiguration,
      handler: ({ body, transaction, principal, requestId }) =>
        transaction(async (tx) =>
          present(principal)(await createLlm(tx, vault, { principal, requestId }, body)),
        ),
    }),
    route({
      id: 'getLlmDefaults',
      method: 'GET',
      path: '/llm-configurations/defaults',
      tag,
      summary: 'The LLM configuration of agents that name none',
      response: llmDefaults,
      handler: async () => ({ llm_id: (await db.run(findDefaultLlm)).id }),
    }),
    route({
      id: 'setLlmDefaults',
      method: 'PUT',
      path: '/llm-configurations/defaults',
      tag,
      summary: 'Choose the LLM configuration of agents that name none',
      body: defaultsBody,
      response: llmDefaults,
      handler: ({ body: { llm_id }, transaction, principal, requestId }) => {
        if (!isId(llm_id)) {
          throw unprocessable([{ path: 'llm_id', message: 'there is no such LLM configuration' }], {
            llm_id,
          });
        }
        return transaction(async (tx) => {
          await changeDefault(tx, { principal, requestId }, llm_id);
          return { llm_id };
        });
      },
    }),
    route({
      id: 'getLlmConfiguration',
      method: 'GET',
      path: '/llm-configurations/{llm_id}',
      tag,
      summary: 'One LLM configuration, without its secrets',
      find,
      response: llmConfiguration,
      handler: async ({ found, principal }) => present(principal)(found),
    }),
    route({
      id: 'updateLlmConfiguration',
      method: 'PATCH',
      path: '/llm-configurations/{llm_id}',
      tag,
      summary: 'Change some fields of an LLM configuration',
      find,
      body: updateBody,
      response: llmConfiguration,
      handler: ({ found, body: { kind, ...body }, transaction, principal, requestId }) => {
        if (kind !== undefined && kind !== found.kind) {
          throw unprocessable([{ path: 'kind', message: `never changes; it is ${found.kind}` }]);
        }
        // As on create, a mock takes no notice of where to send what.
        const fields = found.kind === 'mock' ? { name: body.name, model: body.model } : body;
        return transaction(async (tx) =>
          present(principal)(
            await updateLlmConfiguration(tx, vault, { principal, requestId }, found.id, fields),
          ),
        );
      },
    }),
    route({
      id: 'deleteLlmConfiguration',
      method: 'DELETE',
      path: '/llm-configurations/{llm_id}',
      tag,
      summary: 'Remove an LLM configuration that is not the default and that no agent uses',
      find,
      status: 204,
      otherStatuses: [412],
      handler: async ({ found, transaction, principal, requestId }) => {
        await transaction((tx) => removeLlm(tx, { principal, requestId }, found));
      },
    }),
    route({
      id: 'testLlmConfiguration',
      method: 'POST',
      path: '/llm-configurations/{llm_id}/test',
      tag,
      summary: 'Ask the model for one short answer',
      find,
      response: llmTest,
      handler: async ({ found }) => {
        const startedAt = performance.now();
        const { ok, detail } = await probe(resolve(vault, found));
        return { ok, detail, latency_ms: Math.round(performance.now() - startedAt) };
      },
    }),
  ];
};
