import type { DataConnections } from '../data-connections/index.ts';
import type { Database } from '../database/index.ts';
import { jsonRoute, type Route } from '../http/index.ts';
import { isId } from '../lib/ids.ts';
import type { AskModel } from '../llm-configurations/index.ts';
import type { CurrentSettings } from '../settings/index.ts';
import { limitOf, openModel } from './answer.ts';
import { requireAsked, requireOneAsked } from './asked.ts';
import type { Issue } from './issues.ts';
import { checkModel } from './language.ts';
import { checkLive } from './live.ts';
import type { SemanticModel } from './ossie.ts';
import { runQuery } from './query.ts';
import {
  checkBody,
  checkStatic,
  modelFinder,
  modelPath,
  oneModelPath,
  timeNow,
  toResponse,
} from './routes.ts';
import { scaffoldFromTables } from './scaffolding.ts';
import {
  answer,
  type Body,
  body as modelBody,
  queryBody,
  scaffold,
  scaffoldBody,
  semanticDataModel,
  validateQuery,
  validateStoredBody,
  validation,
} from './schemas.ts';
import { createSemanticDataModel, requireConnection } from './semantic-data-models.ts';
import { type SemanticDataModelRow, updateValidation } from './store.ts';

export interface ModelActionParts {
  db: Database;
  settings: CurrentSettings;
  connections: DataConnections;
  askModel: AskModel;
}

const splitIssues = (issues: readonly Issue[]) => ({
  errors: issues.filter(({ severity }) => severity === 'error'),
  warnings: issues.filter(({ severity }) => severity === 'warning'),
});

const toResult = (issues: readonly Issue[], live: boolean) => ({
  valid: issues.every(({ severity }) => severity === 'warning'),
  live,
  issues: [...issues],
});

/** Actions on semantic data models: they are made of tables, checked and queried. */
export const modelActions = ({ db, settings, connections, askModel }: ModelActionParts): Route[] => {
  const find = modelFinder(db);

  return [
    jsonRoute({
      id: 'scaffoldSemanticDataModel',
      role: 'builder',
      scope: 'data',
      request: `POST ${modelPath}/scaffold-from-tables`,
      summary: 'Scaffold a semantic data model from tables',
      description:
        'Returns the body of a create, or with `save` the new model. Returns 412 if the database cannot be used.',
      body: scaffoldBody,
      response: scaffold.or(semanticDataModel),
      otherStatuses: [412],
      handler: async ({ body, actor, transaction }) => {
        const { data_connection_id, save } = body;
        const dialect = requireConnection(
          isId(data_connection_id) ? await connections.dialectOf(data_connection_id) : undefined,
        );
        const made = await scaffoldFromTables(connections, body, dialect, () => askModel({}));
        const given = {
          name: made.name,
          description: null,
          data_connection_id,
          semantic_model: made.semantic_model as unknown as Record<string, unknown>,
          verified_queries: [],
        };
        if (!save) return { ...given, warnings: made.warnings };
        const checked = await checkBody(connections, given);
        const now = await timeNow(db);
        return toResponse(await transaction((tx) => createSemanticDataModel(tx, actor, checked, now)));
      },
    }),
    jsonRoute({
      id: 'validateSemanticDataModelBody',
      role: 'builder',
      scope: 'data',
      request: `POST ${modelPath}/validate`,
      summary: 'Validate the body of a semantic data model',
      description:
        'Checks the static rules, and then the database. Nothing is stored. Returns 412 if the database cannot be used.',
      body: modelBody.extend(validateQuery.shape).meta({ id: 'ValidateBody' }),
      response: validation,
      otherStatuses: [412],
      handler: async ({ body: { deep, ...given } }) => {
        const { dialect, model, faults, warnings } = await checkStatic(connections, given as Body);
        if (faults.length > 0) return toResult([...faults, ...warnings], false);
        const row = {
          id: '',
          data_connection_id: given.data_connection_id,
          semantic_model: model as SemanticModel,
          verified_queries: given.verified_queries.map((query) => ({
            ...query,
            verified_by: '',
            verified_at: '',
          })) as SemanticDataModelRow['verified_queries'],
        };
        return toResult([...warnings, ...(await checkLive(connections, { row, dialect }, deep))], true);
      },
    }),
    jsonRoute({
      id: 'validateSemanticDataModel',
      role: 'builder',
      scope: 'data',
      request: `POST ${oneModelPath}/validate`,
      summary: 'Validate a semantic data model',
      description: 'Compares it with its database. Returns 412 if the database cannot be used.',
      find,
      body: { schema: validateStoredBody, optional: true },
      response: validation,
      otherStatuses: [412],
      handler: async ({ found, body: { deep } }) => {
        const opened = await openModel(connections, found);
        const { faults, warnings } = checkModel(found, opened.dialect);
        // A model of an earlier version may break a rule that is newer than it: then it cannot be compiled.
        const live = faults.length === 0;
        const issues = [...faults, ...warnings, ...(live ? await checkLive(connections, opened, deep) : [])];
        const checked_at = await timeNow(db);
        const result = toResult(issues, live);
        await db.run((executor) =>
          updateValidation(executor, found, { valid: result.valid, checked_at, ...splitIssues(issues) }),
        );
        return result;
      },
    }),
    jsonRoute({
      id: 'querySemanticDataModel',
      role: 'builder',
      scope: 'data',
      request: `POST ${oneModelPath}/query`,
      summary: 'Query a semantic data model',
      description:
        'Takes exactly one of query, sql, question and verified_query. Returns 412 if the database cannot be used, and 422 with `reason` for a query that is refused.',
      find,
      body: { schema: queryBody, precheck: (given) => requireAsked(given) },
      otherStatuses: [404, 412],
      response: answer,
      handler: async ({ found, body, left }) => {
        requireOneAsked(body);
        const options = {
          limit: limitOf(body.limit, settings.get().DATA_QUERY_MAX_ROWS),
          dryRun: body.dry_run,
          signal: left,
        };
        return runQuery({ connections, askModel }, await openModel(connections, found), body, options);
      },
    }),
  ];
};
