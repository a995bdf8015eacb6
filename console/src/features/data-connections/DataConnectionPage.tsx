import { useParams } from '@tanstack/react-router';
import { listPolling, useOperation, usePermission } from '../../api/index.ts';
import { DetailPage, PageTabs } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { LinkList, permissionReason } from '../../ui/index.ts';
import { SettingsTab } from './SettingsTab.tsx';
import { StateSentence, TestResult } from './sentences.tsx';
import { TablesTab } from './TablesTab.tsx';

const UsedByModels = ({ connectionId }: { connectionId: string }) => {
  const { data: used } = useOperation(
    'listSemanticDataModels',
    {},
    {
      query: { data_connection_id: connectionId, limit: 20 },
      enabled: usePermission('listSemanticDataModels').allowed,
    },
  );
  if (!used || used.data.length === 0) return null;
  return (
    <>
      <p>{words.deleteUsed(used.data.length, used.has_more)}</p>
      <LinkList
        links={used.data.map(({ id, name }) => ({
          href: to('/semantic-data-models/$semanticDataModelId', { semanticDataModelId: id }),
          label: name,
        }))}
        more={used.has_more ? words.more : null}
      />
    </>
  );
};

/** One data connection: whether it responds, its tables with their first rows, and its settings. */
export const DataConnectionPage = () => {
  const { dataConnectionId } = useParams({ from: '/shell/data-connections/$dataConnectionId' });
  const params = { data_connection_id: dataConnectionId };
  const got = useOperation('getDataConnection', params, { every: listPolling(false) });
  const mayChange = permissionReason(usePermission('updateDataConnection'));
  return (
    <DetailPage
      got={got}
      operation="getDataConnection"
      kind={pages.dataConnection}
      name={({ name }) => name}
      list={{ label: pages.dataConnections, href: to('/data-connections') }}
      id={dataConnectionId}
      lead={(connection) => <StateSentence connection={connection} />}
      removal={{
        operation: 'deleteDataConnection',
        params,
        words,
        text: () => (
          <>
            <p>{words.deleteText}</p>
            <UsedByModels connectionId={dataConnectionId} />
          </>
        ),
      }}
      test={{
        operation: 'testDataConnection',
        params,
        show: (result, { engine }) => <TestResult engine={engine} result={result} />,
      }}
    >
      {(connection) => (
        <PageTabs
          label={pages.dataConnection}
          words={words.tabs}
          tabs={{
            tables: () => <TablesTab connectionId={dataConnectionId} />,
            settings: () => (
              <SettingsTab connection={connection} etag={got.etag} disabledReason={mayChange} />
            ),
          }}
        />
      )}
    </DetailPage>
  );
};
