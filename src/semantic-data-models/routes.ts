import type { DataConnections, Dialect } from '../data-connections/index.ts';
import { type Database, databaseNow } from '../database/index.ts';
import {
  finder,
  type JsonContext,
  jsonRoute,
  listPage,
  type Route,
  validate,
  webRoute,
} from '../http/index.ts';
import { type Fault, unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { toYaml } from '../lib/yaml.ts';
import { documentOf, readDocument } from './exchange.ts';
import type { Issue } from './issues.ts';
import { checkModel, faultsOfForm } from './language.ts';
import {
  type Body,
  body,
  exportQuery,
  importBody,
  importedQueries,
  listQuery,
  semanticDataModel,
  semanticDataModelPage,
} from './schemas.ts';
import {
  type CheckedBody,
  type CheckUnused,
  createSemanticDataModel,
  deleteSemanticDataModel,
  lockToDelete,
  lockToReplace,
  replaceSemanticDataModel,
  requireConnection,
} from './semantic-data-models.ts';
import { findSemanticDataModel, listSemanticDataModels, type SemanticDataModelRow } from './store.ts';

export const modelPath = '/semantic-data-models';
export const oneModelPath = `${modelPath}/{semantic_data_model_id}`;

export const modelFinder = (db: Database) =>
  finder(db, 'semantic data model', 'semantic_data_model_id', findSemanticDataModel);

export const toResponse = (row: SemanticDataModelRow) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  data_connection_id: row.data_connection_id,
  semantic_model: row.semantic_model as unknown as Record<string, unknown>,
  verified_queries: row.verified_queries,
  validation: row.validation,
  created_by: row.created_by,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

const mostBytes = 1_048_576;

const toFault = ({ path, message }: Issue): Fault => ({ path, message });

const checkAll = (dialect: Dialect, given: Body) => {
  const checked = checkModel(given, dialect);
  if (Buffer.byteLength(JSON.stringify(given.semantic_model)) <= mostBytes) return checked;
  const tooLong: Issue = {
    severity: 'error',
    code: 'static_rule',
    path: 'semantic_model',
    message: 'must have at most 1 MB as JSON',
    suggestions: [],
  };
  return { ...checked, faults: [tooLong, ...checked.faults] };
};

/** Returns the body with the warnings of its document. Throws 422 with every fault that the static rules find. */
const checkDocument = (dialect: Dialect, given: Body): CheckedBody => {
  const { model, faults, warnings } = checkAll(dialect, given);
  if (faults.length > 0) throw unprocessable(faults.map(toFault));
  return {
    ...given,
    semantic_model: model as CheckedBody['semantic_model'],
    validation: { valid: true, checked_at: null, errors: [], warnings },
  };
};

const requireDialect = async (
  connections: Pick<DataConnections, 'dialectOf'>,
  { data_connection_id: id, semantic_model }: Body,
): Promise<Dialect> =>
  requireConnection(isId(id) ? await connections.dialectOf(id) : undefined, () =>
    faultsOfForm(semantic_model).map(toFault),
  );

/** The faults and warnings of a body. Throws 422 if its data connection is unknown. */
export const checkStatic = async (connections: Pick<DataConnections, 'dialectOf'>, given: Body) => {
  const dialect = await requireDialect(connections, given);
  return { dialect, ...checkAll(dialect, given) };
};

/** Like `checkDocument`, for the data connection of the body. Throws 422 for an unknown one. */
export const checkBody = async (
  connections: Pick<DataConnections, 'dialectOf'>,
  given: Body,
): Promise<CheckedBody> => checkDocument(await requireDialect(connections, given), given);

/** The time of the database, in ISO 8601. */
export const timeNow = async (db: Database): Promise<string> =>
  new Date(await db.run(databaseNow)).toISOString();

interface ModelRouteParts {
  db: Database;
  connections: Pick<DataConnections, 'dialectOf'>;
  checkUnused: CheckUnused;
}

/** Semantic data models as a resource. */
export const semanticDataModelRoutes = ({ db, connections, checkUnused }: ModelRouteParts): Route[] => {
  const find = modelFinder(db);
  const check = (given: Body) => checkBody(connections, given);
  const create = async (
    checked: CheckedBody,
    { actor, transaction, etag }: Pick<JsonContext, 'actor' | 'transaction' | 'etag'>,
  ) => {
    const at = await timeNow(db);
    return transaction(async (tx) => {
      const row = await createSemanticDataModel(tx, actor, checked, at);
      etag(row.revision);
      return toResponse(row);
    });
  };

  return [
    jsonRoute({
      id: 'listSemanticDataModels',
      role: 'builder',
      scope: 'data:read',
      request: `GET ${modelPath}`,
      summary: 'List semantic data models',
      query: listQuery,
      response: semanticDataModelPage,
      handler: listPage(
        db,
        (executor, query) =>
          // An id that is none matches nothing.
          query.data_connection_id !== undefined && !isId(query.data_connection_id)
            ? Promise.resolve([])
            : listSemanticDataModels(executor, query),
        toResponse,
      ),
    }),
    jsonRoute({
      id: 'createSemanticDataModel',
      role: 'builder',
      scope: 'data',
      request: `POST ${modelPath}`,
      summary: 'Create a semantic data model',
      description: 'Every fault of the document is a 422 with `details`. The database is not asked.',
      body,
      response: semanticDataModel,
      idempotent: true,
      cache: 'revision',
      handler: async ({ body: given, ...context }) => create(await check(given), context),
    }),
    jsonRoute({
      id: 'importSemanticDataModel',
      role: 'builder',
      scope: 'data',
      request: `POST ${modelPath}/import`,
      summary: 'Import a semantic data model',
      description: 'Creates a model from an Ossie document. `name` names the resource, not the document.',
      body: importBody,
      response: semanticDataModel,
      idempotent: true,
      cache: 'revision',
      handler: async ({ body: { data_connection_id, document, name }, ...context }) => {
        if (Buffer.byteLength(document) > mostBytes) {
          throw unprocessable([{ path: 'document', message: 'must have at most 1 MB' }]);
        }
        const { semantic_model, verified_queries } = readDocument(document);
        const { verified_queries: queries } = validate(importedQueries, { verified_queries }, 'body');
        const checked = await check({
          name,
          description: null,
          data_connection_id,
          semantic_model: semantic_model as Record<string, unknown>,
          verified_queries: queries,
        });
        return create(checked, context);
      },
    }),
    jsonRoute({
      id: 'getSemanticDataModel',
      role: 'builder',
      scope: 'data:read',
      request: `GET ${oneModelPath}`,
      summary: 'Get a semantic data model',
      find,
      response: semanticDataModel,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return toResponse(found);
      },
    }),
    webRoute({
      id: 'exportSemanticDataModel',
      role: 'builder',
      scope: 'data:read',
      request: `GET ${oneModelPath}/export`,
      summary: 'Export a semantic data model',
      description:
        'Returns an Ossie document. Verified queries are in a custom extension, which an import takes out again.',
      find,
      query: exportQuery,
      document: {
        responses: {
          200: {
            description: 'The Ossie document.',
            content: {
              'application/yaml': { schema: { type: 'string' } },
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['version', 'semantic_model'],
                  properties: {
                    version: { type: 'string' },
                    semantic_model: { type: 'array', items: { type: 'object' } },
                  },
                },
              },
            },
          },
        },
      },
      handler: async ({ found, query: { format } }) => {
        const document = documentOf(found);
        const [text, type] =
          format === 'json'
            ? [JSON.stringify(document), 'application/json']
            : [toYaml(document), 'application/yaml'];
        return new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } });
      },
    }),
    jsonRoute({
      id: 'replaceSemanticDataModel',
      role: 'builder',
      scope: 'data',
      request: `PUT ${oneModelPath}`,
      summary: 'Replace a semantic data model',
      description: 'Optional fields that are left out are reset to their defaults.',
      find,
      body,
      response: semanticDataModel,
      cache: 'revision',
      lock: (tx, { found, body: given }) => lockToReplace(tx, found.id, given),
      handler: async ({ body: given, actor, transaction, etag }) => {
        const checked = await check(given);
        const at = await timeNow(db);
        const row = await transaction((tx, before) =>
          replaceSemanticDataModel(tx, actor, before, checked, at),
        );
        etag(row.revision);
        return toResponse(row);
      },
    }),
    jsonRoute({
      id: 'deleteSemanticDataModel',
      role: 'builder',
      scope: 'data',
      request: `DELETE ${oneModelPath}`,
      summary: 'Delete a semantic data model',
      description: 'Returns 412 with `agent_ids` while agents use it.',
      find,
      otherStatuses: [412],
      lock: (tx, { found }) => lockToDelete(tx, found.id),
      handler: ({ actor, transaction }) =>
        transaction((tx, row) => deleteSemanticDataModel(tx, actor, checkUnused, row)),
    }),
  ];
};
