import type { z } from 'zod';
import { audit } from '../audit/index.ts';
import { type OwnerIds, type OwnerKind, withoutNull } from '../files/index.ts';
import { downloadRoute, jsonRoute, listPage, pageOf, pageQuery, type Route } from '../http/index.ts';
import { notFound, unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { isObject } from '../lib/objects.ts';
import type { Actor } from '../lib/principal.ts';
import { requireAsked, requireOneAsked, type SemanticDataModels } from '../semantic-data-models/index.ts';
import { makeOfModel } from './from-model.ts';
import type { Target } from './keep.ts';
import { frameName } from './names.ts';
import type { FrameParts } from './parts.ts';
import { type QueryResult, queryFrames } from './query.ts';
import { makeOfFile } from './read-file.ts';
import {
  contentQuery,
  createBody,
  publicDataFrame,
  queryAnswer,
  queryBody,
  rowsAnswer,
  rowsQuery,
} from './schemas.ts';
import { contentOf, pageOfRows, toFrameResponse } from './show.ts';
import { type DataFrame, deleteFrame, findFrame, listFrames } from './store.ts';

const defaultLimit = 1_000;

const toAnswer = ({ statement, answer, saved, durationMs }: QueryResult): z.input<typeof queryAnswer> => ({
  source: 'sql',
  verified_query: null,
  query: null,
  sql: statement.sql,
  parameters: statement.parameters,
  columns: answer.columns.map((column) => ({ ...column, label: null, description: null, role: 'column' })),
  rows: answer.rows,
  row_count: answer.rows.length,
  truncated: answer.truncated,
  warnings: answer.cut ? [{ code: 'text_cut', message: 'Texts are cut after 10,000 characters.' }] : [],
  explanation: null,
  usage: null,
  duration_ms: durationMs,
  data_frame: saved && toFrameResponse(saved),
});

/** The data frames of one kind of owner. */
export const frameRoutes = (
  parts: FrameParts,
  models: Pick<SemanticDataModels, 'ask' | 'isGivenTo'>,
  kind: OwnerKind,
): Route[] => {
  const { db, settings } = parts;
  const path = `${kind.path}/data-frames`;
  const onePath = `${path}/{frame}`;
  type PathRequest = Parameters<OwnerKind['find']>[0];
  const find = async (request: PathRequest): Promise<OwnerIds> => (await kind.find(request)).ids;
  const findOne = async (request: PathRequest): Promise<DataFrame> => {
    const owner = await find(request);
    const given = request.params.frame!;
    const named = isId(given) ? { id: given, name: null } : { id: null, name: given };
    const frame =
      named.id !== null || frameName.test(given)
        ? await db.run((executor) => findFrame(executor, owner, named))
        : undefined;
    if (!frame) throw notFound('data frame');
    return frame;
  };
  const target = (owner: OwnerIds, actor: Actor, more: Pick<Target, 'name' | 'nameField'>): Target => ({
    owner,
    lock: kind.lock,
    maker: { actor },
    description: null,
    replace: false,
    ...more,
  });
  const shared = { role: 'member', base: 'v2', otherStatuses: [400] } as const;
  return [
    jsonRoute({
      ...shared,
      id: `list${kind.name}DataFrames`,
      scope: kind.scope.read,
      request: `GET ${path}`,
      summary: `List the data frames of a ${kind.text}`,
      find,
      query: pageQuery,
      response: pageOf(`${kind.name}DataFramePage`, publicDataFrame),
      handler: listPage(
        db,
        (executor, page, { found }) => listFrames(executor, found, page),
        toFrameResponse,
      ),
    }),
    jsonRoute({
      ...shared,
      id: `create${kind.name}DataFrame`,
      scope: kind.scope.write,
      request: `POST ${path}`,
      summary: `Create a data frame of a ${kind.text}`,
      description:
        'A table that is made of a file, of what a semantic data model of the agent answers, or of a query over the data frames that there are. Returns 412 if the database of a model cannot be used.',
      find: kind.find,
      body: {
        schema: createBody,
        precheck: ({ source }) => {
          if (isObject(source) && source.kind === 'semantic_data_model') requireAsked(source, 'source.');
        },
      },
      otherStatuses: [400, 412],
      response: publicDataFrame,
      handler: async ({ found: { ids, agentId }, body, actor, signal }) => {
        const { name, description, replace, source } = body;
        const to = { ...target(ids, actor, { name, nameField: 'name' }), description, replace };
        if (source.kind === 'file') return toFrameResponse(await makeOfFile(parts, to, source, signal));
        if (source.kind === 'semantic_data_model') {
          requireOneAsked(source, 'source.');
          return toFrameResponse(await makeOfModel(parts, models, to, { source, agentId }, signal));
        }
        const query = { sql: source.sql, limit: 1, path: 'source.sql', target: to };
        return toFrameResponse((await queryFrames(parts, ids, query, signal)).saved!);
      },
    }),
    jsonRoute({
      ...shared,
      id: `query${kind.name}DataFrames`,
      // It changes something only with `save_as`, which every caller of the conversation may use.
      scope: kind.scope.write,
      request: `POST ${path}/query`,
      summary: `Query the data frames of a ${kind.text}`,
      find,
      body: queryBody,
      response: queryAnswer,
      handler: async ({ found, body: { sql, limit, save_as }, actor, signal }) => {
        const most = settings.get().DATA_QUERY_MAX_ROWS;
        if (limit != null && limit > most) {
          throw unprocessable([{ path: 'limit', message: `must be at most ${most}` }]);
        }
        const to = save_as === null ? null : target(found, actor, { name: save_as, nameField: 'save_as' });
        const query = { sql, limit: limit ?? Math.min(defaultLimit, most), path: 'sql', target: to };
        return toAnswer(await queryFrames(parts, found, query, signal));
      },
    }),
    jsonRoute({
      ...shared,
      id: `get${kind.name}DataFrame`,
      scope: kind.scope.read,
      request: `GET ${onePath}`,
      summary: `Get a data frame of a ${kind.text}`,
      find: findOne,
      response: publicDataFrame,
      handler: async ({ found }) => toFrameResponse(found),
    }),
    jsonRoute({
      ...shared,
      id: `list${kind.name}DataFrameRows`,
      scope: kind.scope.read,
      request: `GET ${onePath}/rows`,
      summary: `List the rows of a data frame of a ${kind.text}`,
      description: 'In the order of the file, unless `order` is given.',
      find: findOne,
      query: rowsQuery,
      response: rowsAnswer,
      handler: ({ found, query, signal }) => pageOfRows(parts, found, query, signal),
    }),
    downloadRoute({
      ...shared,
      id: `download${kind.name}DataFrame`,
      scope: kind.scope.read,
      request: `GET ${onePath}/content`,
      summary: `Download a data frame of a ${kind.text}`,
      find: findOne,
      query: contentQuery,
      handler: ({ found, query, signal }) => contentOf(parts, found, query, signal),
    }),
    jsonRoute({
      ...shared,
      id: `delete${kind.name}DataFrame`,
      scope: kind.scope.write,
      request: `DELETE ${onePath}`,
      summary: `Delete a data frame of a ${kind.text}`,
      find: findOne,
      handler: ({ found, transaction, actor }) =>
        transaction(async (tx) => {
          if (!(await deleteFrame(tx, found, found.name))) throw notFound('data frame');
          await audit(tx, actor, 'data_frame.delete', found.id, { ...withoutNull(found), name: found.name });
        }),
    }),
  ];
};
