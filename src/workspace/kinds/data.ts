import { type DataConnections, dataConnectionForm } from '../../data-connections/index.ts';
import { type SemanticDataModels, semanticDataModelForm } from '../../semantic-data-models/index.ts';
import type { Kind } from '../kind.ts';
import { byRules, resourceKind } from '../resource-kind.ts';

export const dataConnectionKind = ({ rules }: DataConnections): Kind =>
  resourceKind({
    ...byRules(rules),
    ...dataConnectionForm,
    kind: 'data_connection',
    key: 'data_connections',
    afterwards: (run, id) => run.afterwards(`sessions ${id}`, () => rules.closeSessions(id)),
    verify: (item) => rules.check(dataConnectionForm.body.parse(item)),
  });

export const semanticDataModelKind = ({ rules }: SemanticDataModels): Kind =>
  resourceKind({
    ...byRules(rules),
    ...semanticDataModelForm,
    kind: 'semantic_data_model',
    key: 'semantic_data_models',
  });
