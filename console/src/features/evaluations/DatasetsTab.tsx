import { listPolling, useBaseUrl, useOperation } from '../../api/index.ts';
import type { PublicDataset } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { common } from '../../text/en/common.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import {
  Box,
  type Column,
  curlOf,
  EmptyState,
  Loaded,
  Muted,
  Pager,
  Table,
  TwoLines,
} from '../../ui/index.ts';

const columns: readonly Column<PublicDataset>[] = [
  {
    key: 'name',
    title: common.name,
    width: '46%',
    cell: ({ name, description }) => <TwoLines below={description}>{name}</TwoLines>,
  },
  { key: 'mode', title: words.mode, phone: 'hide', cell: ({ mode }) => words.modes[mode] },
  {
    key: 'cases',
    title: words.caseCount,
    numeric: true,
    titled: true,
    cell: ({ case_count }) => number(case_count),
  },
  {
    key: 'graders',
    title: words.graders,
    phone: 'hide',
    cell: ({ graders }) =>
      graders.length === 0 ? <Muted>{words.graderCount(0)}</Muted> : words.graderCount(graders.length),
  },
  {
    key: 'updated',
    title: words.updated,
    phone: 'below',
    cell: ({ updated_at }) => <Time at={updated_at} form="relative" />,
  },
];

export const DatasetsTab = () => {
  const { search } = useUrlState<{ next?: string }>();
  const got = useOperation(
    'listDatasets',
    {},
    { query: { next: search.next }, every: listPolling(false), keepPrevious: true },
  );
  const pager = useCursor(got.data?.next);
  const curl = curlOf(useBaseUrl(), 'createDataset', {}, { body: { name: 'Invoices' } });
  return (
    <>
      <Loaded got={got} operation="listDatasets">
        {({ data }) => (
          <Box>
            <Table
              label={words.tabs.datasets}
              rows={data}
              columns={columns}
              rowKey={({ id }) => id}
              name={({ name }) => name}
              href={({ id }) => to('/evaluations/datasets/$datasetId', { datasetId: id })}
              nothing={<EmptyState sentence={words.noDatasets} curl={curl} />}
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};
