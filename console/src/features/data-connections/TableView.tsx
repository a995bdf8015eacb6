import { type ReactNode, useState } from 'react';
import { usePermission, usePostQuery } from '../../api/index.ts';
import type { DataConnectionTable } from '../../api/types.gen.ts';
import { useTables } from '../../resource/index.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import {
  Box,
  ButtonLink,
  Callout,
  type Column,
  EmptyState,
  Link,
  Loaded,
  Muted,
  permissionReason,
  RowsTable,
  Section,
  Skeleton,
  Table,
  TwoLines,
} from '../../ui/index.ts';
import type { dataConnectionSearch } from './search.ts';

type TableColumn = DataConnectionTable['columns'][number];

/** The keys that a column is part of. Those of several columns name them all. */
const Keys = ({ table, column }: { table: DataConnectionTable; column: string }): ReactNode => {
  const { href } = useUrlState<ReturnType<typeof dataConnectionSearch>>();
  const { primary_key, unique_keys, foreign_keys } = table;
  const own = [
    primary_key.includes(column) &&
      (primary_key.length === 1 ? words.primaryKey : words.primaryKeyOf(primary_key.join(', '))),
    ...unique_keys
      .filter((key) => key.includes(column))
      .map((key) => (key.length === 1 ? words.unique : words.uniqueOf(key.join(', ')))),
  ].filter((text): text is string => Boolean(text));
  return (
    <>
      {own.map((text) => (
        <div key={text}>{text}</div>
      ))}
      {foreign_keys
        .filter(({ columns }) => columns.includes(column))
        .map(({ to_schema, to_table, to_columns }) => (
          <div key={`${to_schema}.${to_table}`}>
            <Link href={href({ table: to_table, of: to_schema })}>
              {words.foreignKey(
                to_schema === table.schema ? to_table : `${to_schema}.${to_table}`,
                to_columns.join(', '),
              )}
            </Link>
          </div>
        ))}
    </>
  );
};

const columnsOf = (table: DataConnectionTable): Column<TableColumn>[] => [
  {
    key: 'name',
    title: words.column,
    width: '36%',
    cell: ({ name, comment }) => <TwoLines below={comment}>{name}</TwoLines>,
  },
  {
    key: 'type',
    title: words.type,
    cell: ({ type, datatype, nullable }) => (
      <TwoLines below={nullable ? `${type}, ${words.nullable}` : type}>{datatype}</TwoLines>
    ),
  },
  {
    key: 'key',
    title: words.key,
    width: '34%',
    phone: 'below',
    cell: ({ name }) => <Keys table={table} column={name} />,
  },
];

const Preview = ({ connectionId, table }: { connectionId: string; table: DataConnectionTable }) => {
  const refused = permissionReason(usePermission('previewDataConnectionTable'));
  const { schema, name } = table;
  const got = usePostQuery(
    'previewDataConnectionTable',
    { data_connection_id: connectionId },
    refused ? null : { schema, table: name, limit: 100 },
  );
  return (
    <Section title={words.previewTitle}>
      {refused ? (
        <Muted>{refused}</Muted>
      ) : (
        <Loaded got={got} operation="previewDataConnectionTable">
          {({ columns, rows, truncated, warnings }) => (
            <>
              {warnings.map(({ code, message }) => (
                <Callout key={code} tone="look" title={message} />
              ))}
              <Box>
                {rows.length === 0 ? (
                  <EmptyState sentence={words.previewEmpty} />
                ) : (
                  <RowsTable
                    label={words.previewTitle}
                    columns={columns}
                    rows={rows}
                    note={truncated && words.previewMore}
                  />
                )}
              </Box>
            </>
          )}
        </Loaded>
      )}
    </Section>
  );
};

export const TableView = ({
  connectionId,
  schema,
  name,
}: {
  connectionId: string;
  schema: string;
  name: string;
}) => {
  const { href } = useUrlState<ReturnType<typeof dataConnectionSearch>>();
  const [after, setAfter] = useState('');
  const got = useTables(connectionId, { schema, search: name, next: after, limit: 100 });
  const back = (
    <ButtonLink small href={href({ table: undefined, of: undefined })} keepScroll>
      {words.allTables}
    </ButtonLink>
  );
  const { data } = got;
  const found = data?.data.find((table) => table.schema === schema && table.name === name);
  // Tables whose names contain this one may come before it.
  if (data && !found && data.next !== '') setAfter(data.next);
  return (
    <Loaded got={got} operation="listDataConnectionTables">
      {() =>
        found ? (
          <>
            <Section
              title={`${schema}.${name}`}
              note={[words.kinds[found.kind], found.comment].filter(Boolean).join('. ')}
              aside={back}
            >
              <Box>
                <Table
                  label={words.columns}
                  rows={found.columns}
                  columns={columnsOf(found)}
                  rowKey={(column) => column.name}
                  name={(column) => column.name}
                />
              </Box>
            </Section>
            <Preview connectionId={connectionId} table={found} />
          </>
        ) : data?.next ? (
          <Skeleton />
        ) : (
          <Section aside={back}>
            <Callout title={words.noSuchTable} />
          </Section>
        )
      }
    </Loaded>
  );
};
