import { useState } from 'react';
import { usePermission } from '../../api/index.ts';
import type { DataConnectionTable } from '../../api/types.gen.ts';
import { useTables } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Box,
  ButtonLink,
  type Column,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterText,
  Loaded,
  Muted,
  NothingMatches,
  Pager,
  permissionReason,
  Section,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import type { dataConnectionSearch } from './search.ts';
import { TableView } from './TableView.tsx';

const columns: readonly Column<DataConnectionTable>[] = [
  {
    key: 'name',
    title: words.table,
    width: '44%',
    cell: ({ schema, name, comment }) => (
      <TwoLines below={comment ? `${schema}, ${comment}` : schema}>{name}</TwoLines>
    ),
  },
  { key: 'kind', title: words.kind, phone: 'hide', cell: ({ kind }) => words.kinds[kind] },
  {
    key: 'columns',
    title: words.columns,
    phone: 'below',
    cell: (table) => words.columnCount(table.columns.length),
  },
  {
    key: 'rows',
    title: words.rows,
    numeric: true,
    cell: ({ row_estimate }) =>
      row_estimate === null ? <Muted third>{words.rowsUnknown}</Muted> : words.about(row_estimate),
  },
];

const filters = ['q', 'schema'] as const;

const TableList = ({ connectionId }: { connectionId: string }) => {
  const { search, set, replace, href, clear, count } = useUrlState<ReturnType<typeof dataConnectionSearch>>();
  const { q, schema, next } = search;
  const mayModel = permissionReason(usePermission('createSemanticDataModel'));
  const [typed, setTyped] = useState('');
  const got = useTables(connectionId, { search: q, schema, next, limit: 50 }, true);
  const pager = useCursor(got.data?.next);
  // Any schema can be typed: those of other pages are not known here.
  const schemas = [...(got.data?.data.map((table) => table.schema) ?? []), schema, typed];
  const options = [...new Set(schemas.filter((name): name is string => Boolean(name)))]
    .filter((name) => name.toLowerCase().includes(typed.toLowerCase()))
    .map((value) => ({ value, label: value }));
  return (
    <Section
      label={words.tablesOf}
      note={words.tablesNote}
      aside={
        got.data !== undefined &&
        got.data.data.length > 0 && (
          <ButtonLink
            small
            href={to('/semantic-data-models/new', {}, { connection: connectionId })}
            disabledReason={mayModel}
          >
            {pages.newSemanticDataModel}
          </ButtonLink>
        )
      }
    >
      {(count(filters) > 0 || next !== undefined || got.data?.data.length !== 0) && (
        <FilterBar set={count(filters)} onClear={() => clear(filters)}>
          <FilterText value={q ?? ''} onChange={(q) => replace({ q })} />
          <FilterChoice
            label={words.schema}
            value={schema ? [schema] : []}
            options={options}
            onSearch={setTyped}
            onChange={([schema]) => set({ schema })}
          />
        </FilterBar>
      )}
      <Loaded got={got} operation="listDataConnectionTables">
        {({ data }) => (
          <Box>
            {data.length > 0 ? (
              <Table
                label={words.tablesOf}
                rows={data}
                columns={columns}
                rowKey={(table) => `${table.schema}.${table.name}`}
                name={({ name }) => name}
                href={({ schema, name }) => href({ table: name, of: schema })}
              />
            ) : count(filters) > 0 ? (
              <NothingMatches
                what={words.whatTables}
                filters={count(filters)}
                onClear={() => clear(filters)}
              />
            ) : (
              <EmptyState sentence={words.noTables} />
            )}
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </Section>
  );
};

export const TablesTab = ({ connectionId }: { connectionId: string }) => {
  const { table, of } = useUrlState<ReturnType<typeof dataConnectionSearch>>().search;
  return table !== undefined && of !== undefined ? (
    <TableView key={`${of}.${table}`} connectionId={connectionId} schema={of} name={table} />
  ) : (
    <TableList connectionId={connectionId} />
  );
};
