import { useOperation, usePermission } from '../../api/index.ts';
import type { PublicSemanticDataModel } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Time } from '../../time/index.ts';
import { type Column, OutcomeTag, TwoLines } from '../../ui/index.ts';
import { ModelCommand } from './ModelCommand.tsx';
import { modelOf } from './model.ts';
import { stateKinds, stateOf } from './sentences.tsx';

const columnsWith = (connections: ReadonlyMap<string, string>): Column<PublicSemanticDataModel>[] => [
  {
    key: 'name',
    title: common.name,
    width: '34%',
    cell: ({ name, description }) => <TwoLines below={description}>{name}</TwoLines>,
  },
  {
    key: 'connection',
    title: words.connection,
    phone: 'below',
    cell: ({ data_connection_id: id }) => connections.get(id) ?? id,
  },
  {
    key: 'content',
    title: words.content,
    phone: 'below',
    cell: (row) => {
      const { datasets = [], metrics = [] } = modelOf(row);
      return (
        <TwoLines below={words.queryCount(row.verified_queries.length)}>
          {`${words.datasetCount(datasets.length)}, ${words.metricCount(metrics.length)}`}
        </TwoLines>
      );
    },
  },
  {
    key: 'state',
    title: words.state,
    width: '20%',
    cell: ({ validation }) => (
      <TwoLines below={validation.checked_at && <Time at={validation.checked_at} form="relative" />}>
        <OutcomeTag kind={stateKinds[stateOf(validation)]}>{words.states[stateOf(validation)]}</OutcomeTag>
      </TwoLines>
    ),
  },
];

export const SemanticDataModelsPage = () => {
  const found = useOperation(
    'listDataConnections',
    {},
    {
      query: { limit: 100 },
      enabled: usePermission('listDataConnections').allowed,
    },
  );
  const connections = new Map((found.data?.data ?? []).map(({ id, name }) => [id, name]));
  return (
    <ListPage
      title={pages.semanticDataModels}
      words={words}
      operation="listSemanticDataModels"
      filters={[
        { name: 'q', sentAs: 'name', placeholder: words.nameBegins },
        {
          name: 'connection',
          sentAs: 'data_connection_id',
          label: words.connection,
          options: [...connections].map(([value, label]) => ({ value, label })),
        },
      ]}
      columns={columnsWith(connections)}
      name={({ name }) => name}
      href={({ id }) => to('/semantic-data-models/$semanticDataModelId', { semanticDataModelId: id })}
      create={{
        label: words.newModel,
        operation: 'createSemanticDataModel',
        href: to('/semantic-data-models/new'),
      }}
      readCommand={<ModelCommand connections={found.data} />}
    />
  );
};
