import { listPolling, useBaseUrl, useGet, usePermission } from '../../api/index.ts';
import type { DataConnectionPage, PublicDataConnection } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useCursor, useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { pages } from '../../text/en/pages.ts';
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
  Tag,
  TwoLines,
  Words,
} from '../../ui/index.ts';
import type { dataConnectionsSearch } from './search.ts';
import { kindOf } from './sentences.tsx';
import { placeOf } from './values.ts';

const LastTry = ({ status: { state, checked_at, detail } }: Pick<PublicDataConnection, 'status'>) => {
  const at = checked_at && <Time at={checked_at} form="relative" />;
  return (
    <TwoLines
      below={at && (state === 'unreachable' ? <Words text={words.failedAt} at={at} detail={detail} /> : at)}
    >
      <OutcomeTag kind={kindOf[state]}>{words.states[state]}</OutcomeTag>
    </TwoLines>
  );
};

const columns: readonly Column<PublicDataConnection>[] = [
  {
    key: 'name',
    title: common.name,
    width: '28%',
    cell: ({ name, description }) => <TwoLines below={description}>{name}</TwoLines>,
  },
  {
    key: 'where',
    title: words.where,
    width: '28%',
    phone: 'below',
    cell: (row) => <TwoLines below={placeOf(row)}>{words.engines[row.engine]}</TwoLines>,
  },
  {
    key: 'try',
    title: words.lastTry,
    width: '26%',
    phone: 'below',
    cell: ({ status }) => <LastTry status={status} />,
  },
  {
    key: 'tags',
    title: words.tags,
    phone: 'hide',
    cell: ({ tags }) =>
      tags.map((tag) => (
        <span key={tag}>
          <Tag>{tag}</Tag>{' '}
        </span>
      )),
  },
];

const filters = ['q', 'engine'] as const;
const engines = Object.entries(words.engines).map(([value, label]) => ({ value, label }));

/** All databases that semantic data models read, and whether they respond. */
export const DataConnectionsPage = () => {
  const { search, set, clear, count } = useUrlState<ReturnType<typeof dataConnectionsSearch>>();
  const { q, engine, next } = search;
  const got = useGet<DataConnectionPage>('/api/v2/data-connections', {
    query: { name: q, engine, next, limit: 50 },
    every: listPolling(false),
    keepPrevious: true,
  });
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const mayCreate = permissionReason(usePermission('createDataConnection'));
  const create = (
    <ButtonLink kind="primary" href={to.newDataConnection()} disabledReason={mayCreate}>
      {words.newConnection}
    </ButtonLink>
  );
  const empty = got.data?.data.length === 0 && count(filters) === 0 && next === undefined;
  return (
    <Page title={pages.dataConnections} lead={words.lead} actions={!empty && create}>
      {!empty && (
        <FilterBar set={count(filters)} onClear={() => clear(filters)}>
          <FilterText value={q ?? ''} placeholder={words.nameBegins} onChange={(q) => set({ q })} />
          <FilterChoice
            label={words.engine}
            value={engine ? [engine] : []}
            options={engines}
            onChange={([engine]) => set({ engine: engine as typeof search.engine })}
          />
        </FilterBar>
      )}
      <Loaded got={got} operation="listDataConnections">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={pages.dataConnections}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={({ name }) => name}
                href={({ id }) => to.dataConnection(id)}
              />
            ) : count(filters) > 0 ? (
              <NothingMatches what={words.what} filters={count(filters)} onClear={() => clear(filters)} />
            ) : (
              <EmptyState
                sentence={words.empty}
                action={create}
                curl={curlOf(base, 'POST', '/data-connections', {
                  name: 'Shop',
                  engine: 'sqlite',
                  configuration: { path: 'shop.db' },
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
