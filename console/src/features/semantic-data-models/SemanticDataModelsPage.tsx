import { listPolling, useBaseUrl, useGet, usePermission } from '../../api/index.ts';
import type {
  DataConnectionPage,
  PublicSemanticDataModel,
  SemanticDataModelPage,
} from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  ButtonLink,
  type Column,
  curlOf,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterText,
  Loaded,
  NothingMatches,
  OutcomeTag,
  Page,
  Pager,
  permissionReason,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import { modelOf } from './model.ts';
import type { semanticDataModelsSearch } from './search.ts';
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

const filters = ['q', 'connection'] as const;

/** All semantic data models, what they read, and whether they fit their databases. */
export const SemanticDataModelsPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof semanticDataModelsSearch>>();
  const { q, connection, next } = search;
  const got = useGet<SemanticDataModelPage>('/api/v2/semantic-data-models', {
    query: { name: q, data_connection_id: connection, next, limit: 50 },
    every: listPolling(false),
    keepPrevious: true,
  });
  const found = useGet<DataConnectionPage>('/api/v2/data-connections', {
    query: { limit: 100 },
    enabled: usePermission('listDataConnections').allowed,
  });
  const connections = new Map((found.data?.data ?? []).map(({ id, name }) => [id, name]));
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const mayCreate = permissionReason(usePermission('createSemanticDataModel'));
  const create = (
    <ButtonLink kind="primary" href={to.newSemanticDataModel()} disabledReason={mayCreate}>
      {words.newModel}
    </ButtonLink>
  );
  const empty = got.data?.data.length === 0 && count(filters) === 0 && next === undefined;
  return (
    <Page title={pages.semanticDataModels} lead={words.lead} actions={!empty && create}>
      {!empty && (
        <FilterBar set={count(filters)} onClear={() => clear(filters)}>
          <FilterText value={q ?? ''} placeholder={words.nameBegins} onChange={(q) => set({ q })} />
          <FilterChoice
            label={words.connection}
            value={connection ? [connection] : []}
            options={[...connections].map(([value, label]) => ({ value, label }))}
            onChange={([connection]) => set({ connection })}
          />
        </FilterBar>
      )}
      <Loaded got={got} operation="listSemanticDataModels">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={pages.semanticDataModels}
                rows={data}
                columns={columnsWith(connections)}
                rowKey={({ id }) => id}
                name={({ name }) => name}
                href={({ id }) => to.semanticDataModel(id)}
              />
            ) : count(filters) > 0 ? (
              <NothingMatches what={words.what} filters={count(filters)} onClear={() => clear(filters)} />
            ) : (
              <EmptyState
                sentence={words.empty}
                action={create}
                curl={curlOf(base, 'POST', '/semantic-data-models/scaffold-from-tables', {
                  data_connection_id: found.data?.data[0]?.id ?? 'ID',
                  tables: [{ table: 'orders' }],
                  save: true,
                })}
              />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </Page>
  );
};
