import type { Database } from '../database/index.ts';
import { type Context, finder, jsonRoute, listPage, pageQuery, type Route, text } from '../http/index.ts';
import { usedLlm, usedLlmPage } from './schemas.ts';
import { findLlm, type LlmRow, listLlms } from './store.ts';
import { listLlmUses } from './use-store.ts';

const reads = { role: 'builder', scope: 'llm:read', base: 'app' } as const;

type ToResponse = (
  row: LlmRow,
  context: Pick<Context, 'principal'>,
) => Pick<LlmRow, 'id' | 'name' | 'kind' | 'model'>;

/** For the application: configurations with the agents that use them. */
export const pageRoutes = (db: Database, toResponse: ToResponse): Route[] => {
  const find = finder(db, 'LLM configuration', 'llm_id', findLlm);
  return [
    jsonRoute({
      ...reads,
      id: 'listUsedLlmConfigurations',
      request: 'GET /llm-configurations',
      summary: 'List LLM configurations with the agents that use them',
      query: pageQuery.extend({ q: text(200).optional().describe('A part of the name or of the model.') }),
      response: usedLlmPage,
      handler: listPage(
        db,
        async (executor, page) => {
          const rows = await listLlms(executor, page, page.q);
          const uses = await listLlmUses(
            executor,
            rows.map(({ id }) => id),
          );
          return rows.map((row) => ({ ...row, uses: uses.get(row.id)! }));
        },
        ({ uses, ...row }, context) => ({ ...toResponse(row, context), ...uses }),
      ),
    }),
    jsonRoute({
      ...reads,
      id: 'getUsedLlmConfiguration',
      request: 'GET /llm-configurations/{llm_id}',
      summary: 'Get an LLM configuration with the agents that use it',
      description: 'The ETag is that of the configuration, for a change of it.',
      find,
      response: usedLlm,
      cache: 'revision',
      handler: async (context) => {
        const { found } = context;
        const uses = await db.run((executor) => listLlmUses(executor, [found.id]));
        context.etag(found.revision);
        return { ...toResponse(found, context), ...uses.get(found.id)! };
      },
    }),
  ];
};
