import { z } from 'zod';
import {
  createDataConnectionBody,
  type DataConnections,
  dataConnections,
  updateDataConnectionBody,
} from '../../data-connections/index.ts';
import { jsonObject, text } from '../../http/index.ts';
import { required, withDefault } from '../../resource/index.ts';
import { type SemanticDataModels, semanticDataModelBody } from '../../semantic-data-models/index.ts';
import type { Item, Kind } from '../kind.ts';
import { byRules, resourceKind } from '../resource-kind.ts';
import { secretsAt } from '../secrets.ts';

const { name, description, tags } = dataConnections.fields;

export const dataConnectionKind = ({ rules }: DataConnections): Kind =>
  resourceKind({
    ...byRules(rules),
    kind: 'data_connection',
    key: 'data_connections',
    // In the order of a document.
    fields: {
      name,
      description,
      engine: required(z.string()).fixed(),
      configuration: withDefault(jsonObject, { tls: { mode: 'verify_full' } }),
      tags,
    },
    body: createDataConnectionBody,
    patch: updateDataConnectionBody,
    secrets: {
      ...secretsAt('configuration.password'),
      'configuration.tls.client_key': '-----BEGIN PRIVATE KEY-----',
    },
    address: ({ configuration }) => {
      const { host, port, username, tls } = configuration as Item;
      const { client_key: _, ...rest } = (tls ?? {}) as Item;
      return [host, port, username, rest];
    },
    afterwards: (run, id) => run.afterwards(`sessions ${id}`, () => rules.closeSessions(id)),
    verify: (item) => rules.check(createDataConnectionBody.parse(item)),
  });

export const semanticDataModelKind = ({ rules }: SemanticDataModels): Kind =>
  resourceKind({
    ...byRules(rules),
    kind: 'semantic_data_model',
    key: 'semantic_data_models',
    fields: {
      name: required(z.string()),
      description,
      data_connection_id: required(z.string()).refersTo('data_connection', 'data_connection'),
      semantic_model: required(jsonObject),
      verified_queries: withDefault(z.array(jsonObject), []),
    },
    body: semanticDataModelBody.extend({ name: text(200, 1) }),
  });
