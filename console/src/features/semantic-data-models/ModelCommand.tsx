import { type Output, useBaseUrl } from '../../api/index.ts';
import { dataConnectionExample, useTables } from '../../resource/index.ts';
import { states } from '../../text/en/states.ts';
import { CodeBlock, curlOf } from '../../ui/index.ts';

/**
 * The command of an empty list of models. It works as it stands: it makes a model of the first table of the first
 * connection, and without any connection it makes that.
 */
export const ModelCommand = ({ connections }: { connections: Output<'listDataConnections'> | undefined }) => {
  const base = useBaseUrl();
  const first = connections?.data[0];
  const tables = useTables(first?.id ?? null, { limit: 1 });
  const [table] = tables.data?.data ?? [];
  const command = () => {
    if (!first) return dataConnectionExample(base);
    return curlOf(
      base,
      'scaffoldSemanticDataModel',
      {},
      {
        body: {
          data_connection_id: first.id,
          // A database that does not respond shows no table.
          tables: [table ? { schema: table.schema, table: table.name } : { table: 'orders' }],
          save: true,
        },
      },
    );
  };
  if (!connections || (first && tables.loading)) return null;
  return <CodeBlock code={command()} label={states.command} />;
};
