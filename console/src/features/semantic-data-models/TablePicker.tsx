import { useState } from 'react';
import type { DataConnectionTable } from '../../api/types.gen.ts';
import { useTables } from '../../resource/index.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import {
  Box,
  type Column,
  EmptyState,
  FilterText,
  Loaded,
  Muted,
  Section,
  type Selection,
  Table,
  TwoLines,
} from '../../ui/index.ts';

const columns: readonly Column<DataConnectionTable>[] = [
  {
    key: 'name',
    title: words.table,
    width: '70%',
    cell: ({ name, schema, comment }) => (
      <TwoLines below={comment ? `${schema}, ${comment}` : schema}>{name}</TwoLines>
    ),
  },
  { key: 'columns', title: words.columns, cell: (table) => words.columnCount(table.columns.length) },
];

/** The key of a table in the selection; names may have dots. */
const keyOf = ({ schema, name }: Pick<DataConnectionTable, 'schema' | 'name'>): string =>
  JSON.stringify([schema, name]);

export const tablesOf = ({ keys }: Selection): { schema: string; table: string }[] =>
  keys.map((key) => {
    const [schema, table] = JSON.parse(key) as [string, string];
    return { schema, table };
  });

/** Chooses tables of a connection. What is chosen stays chosen while one searches for others. */
export const TablePicker = ({ connectionId, selection }: { connectionId: string; selection: Selection }) => {
  const [search, setSearch] = useState('');
  const got = useTables(connectionId, { search, limit: 100 }, true);
  return (
    <Section
      title={words.tables}
      note={words.tablesNote(selection.keys.length)}
      aside={<FilterText label={words.tableSearch} value={search} onChange={setSearch} />}
    >
      <Loaded got={got} operation="listDataConnectionTables">
        {({ data, has_more }) => (
          <>
            <Box>
              {data.length === 0 ? (
                <EmptyState sentence={words.noTables} />
              ) : (
                <Table
                  label={words.tables}
                  rows={data}
                  columns={columns}
                  rowKey={keyOf}
                  name={({ schema, name }) => `${schema}.${name}`}
                  selection={selection}
                />
              )}
            </Box>
            {has_more && <Muted small>{words.moreTables}</Muted>}
          </>
        )}
      </Loaded>
    </Section>
  );
};
