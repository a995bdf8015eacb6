import { z } from 'zod';
import {
  type ConnectionSettings,
  createDataConnectionBody,
  type DataConnections,
  dataConnections,
  updateDataConnectionBody,
} from '../../data-connections/index.ts';
import { jsonObject } from '../../http/index.ts';
import { isSame } from '../../lib/differences.ts';
import { unprocessable } from '../../lib/errors.ts';
import { required, withDefault } from '../../resource/index.ts';
import { type SemanticDataModels, semanticDataModelBody } from '../../semantic-data-models/index.ts';
import { clean } from '../paths.ts';
import type { Item, Kind, Outlook } from './kind.ts';
import { faultsIn, readBody } from './read.ts';
import { resourceKind } from './resource-kind.ts';

const settingsOf = ({ engine, configuration }: Item): ConnectionSettings =>
  ({ engine, ...(configuration as object) }) as ConnectionSettings;

const key = '-----BEGIN PRIVATE KEY-----';

export interface DataConnectionKind extends Kind {
  /** Tries the settings of an item, without a transaction. Throws 422. */
  verify(item: Item): Promise<void>;
}

const { name, description, tags } = dataConnections.fields;
/** What an item has, in this order. */
const connectionFields = {
  name,
  description,
  engine: required(z.string()),
  configuration: withDefault(jsonObject, { tls: { mode: 'verify_full' } }),
  tags,
};

export const dataConnectionKind = ({ rules }: DataConnections): DataConnectionKind => ({
  ...resourceKind({
    kind: 'data_connection',
    key: 'data_connections',
    fields: connectionFields,
    body: createDataConnectionBody,
    patch: updateDataConnectionBody,
    secrets: { 'configuration.password': 'a-secret', 'configuration.tls.client_key': key },
    list: async (executor) =>
      (await rules.list(executor)).map(({ row, settings: { engine, ...configuration } }) => ({
        id: row.id,
        name: row.name,
        values: { ...row, configuration },
      })),
    complete: (item, _body, found) => {
      if (found && item.engine !== found.item.engine) {
        throw unprocessable([{ path: 'engine', message: `cannot be changed; it is ${found.item.engine}` }]);
      }
      return item;
    },
    address: ({ configuration }) => {
      const { host, port, username, tls } = configuration as Item;
      const { client_key: _, ...rest } = (tls ?? {}) as Item;
      return [host, port, username, rest];
    },
    create: (run, { engine: _, configuration: __, ...fields }, item) =>
      rules.create(run.tx, run.actor, fields, settingsOf(item), run.leaving('data_connection')),
    update: async (run, id, changes, item) => {
      const settings = changes.configuration === undefined ? null : settingsOf(item);
      await rules.update(run.tx, run.actor, id, changes, settings);
      run.afterwards(`sessions ${id}`, () => rules.closeSessions(id));
    },
    remove: async (run, { id }) => {
      await rules.delete(run.tx, run.actor, id);
      run.afterwards(`sessions ${id}`, () => rules.closeSessions(id));
    },
  }),
  verify: (item) => rules.check(settingsOf(item)),
});

const connectionField = required(z.string()).refersTo('data_connection', 'data_connection');

const bodyOf = ({ data_connection, ...item }: Item, connectionId: string) =>
  ({ ...item, data_connection_id: connectionId }) as Parameters<SemanticDataModels['rules']['check']>[1];

/** The queries with those of `before` in place of equal ones: who verified them stays. */
const keepingQueries = (item: Item, before: Item): Item => {
  const stored = before.verified_queries as Item[];
  const queries = (item.verified_queries as Item[]).map(
    (query) => stored.find((one) => isSame(one, query)) ?? query,
  );
  return { ...item, verified_queries: queries };
};

export const semanticDataModelKind = (
  { rules }: SemanticDataModels,
  connections: DataConnections['rules'],
): Kind => {
  const check = (item: Item, outlook: Outlook, connectionId = '') => {
    const connection = outlook.item('data_connection', String(item.data_connection));
    return (
      connection && rules.check(connections.dialectOf(settingsOf(connection)), bodyOf(item, connectionId))
    );
  };
  return {
    kind: 'semantic_data_model',
    key: 'semantic_data_models',
    secrets: {},
    defaults: { description: null, verified_queries: [] },
    nameOf: ({ name }) => String(name),
    list: async (executor, names) => {
      const connectionNames = names('data_connection');
      return (await rules.list(executor)).map(
        ({ id, name, description, data_connection_id, semantic_model, verified_queries }) => ({
          id,
          name,
          item: {
            name,
            description,
            data_connection: connectionNames.get(data_connection_id),
            semantic_model,
            verified_queries: verified_queries.map(
              ({ verified_by: _, verified_at: __, ...query }) => clean(query) as Item,
            ),
          },
        }),
      );
    },
    read: (given) => {
      if (typeof given.name !== 'string') throw unprocessable([{ path: 'name', message: 'is required' }]);
      const body = readBody(semanticDataModelBody, given, { data_connection_id: connectionField });
      const { name, description, data_connection_id, semantic_model, verified_queries } = body;
      return { name, description, data_connection: data_connection_id, semantic_model, verified_queries };
    },
    references: ({ data_connection }) => [
      { path: 'data_connection', kind: 'data_connection', name: String(data_connection) },
    ],
    check: (item, outlook) => faultsIn(() => check(item, outlook)),
    create: async (run, item) => {
      const id = run.idOf('data_connection', String(item.data_connection));
      const checked = check(item, run.outlook, id)!;
      return (await rules.create(run.tx, run.actor, checked, run.leaving('semantic_data_model'))).id;
    },
    update: async (run, found, item) => {
      const id = run.idOf('data_connection', String(item.data_connection));
      const checked = check(keepingQueries(item, found.item), run.outlook, id)!;
      await rules.replace(run.tx, run.actor, found.id, checked);
    },
    remove: ({ tx, actor }, { id }) => rules.delete(tx, actor, id),
  };
};
