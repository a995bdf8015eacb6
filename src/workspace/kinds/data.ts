import { type DataConnections, dataConnectionForm } from '../../data-connections/index.ts';
import { type EventConnections, eventConnectionForm } from '../../event-connections/index.ts';
import { type SemanticDataModels, semanticDataModelForm } from '../../semantic-data-models/index.ts';
import type { Kind } from '../kind.ts';
import { byFeature, resourceKind } from '../resource-kind.ts';

export const dataConnectionKind = (connections: DataConnections): Kind =>
  resourceKind({
    ...byFeature(connections),
    ...dataConnectionForm,
    kind: 'data_connection',
    key: 'data_connections',
    afterwards: (run, id) => run.afterwards(`sessions ${id}`, () => connections.closeSessions(id)),
    verify: (item) => connections.check(dataConnectionForm.body.parse(item)),
  });

export const semanticDataModelKind = (models: SemanticDataModels): Kind =>
  resourceKind({
    ...byFeature(models),
    ...semanticDataModelForm,
    kind: 'semantic_data_model',
    key: 'semantic_data_models',
  });

export const eventConnectionKind = (connections: EventConnections): Kind =>
  resourceKind({
    ...byFeature(connections),
    ...eventConnectionForm,
    kind: 'event_connection',
    key: 'event_connections',
  });
