import { useParams } from '@tanstack/react-router';
import {
  listPolling,
  path,
  request,
  useAction,
  useGet,
  useInvalidate,
  usePermission,
} from '../../api/index.ts';
import type {
  DataConnectionTestResult,
  PublicDataConnection,
  SemanticDataModelPage,
} from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { DeleteButton, DetailPage, PageTabs } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, LinkList, Problem, permissionReason } from '../../ui/index.ts';
import { SettingsTab } from './SettingsTab.tsx';
import { StateSentence, TestResult } from './sentences.tsx';
import { TablesTab } from './TablesTab.tsx';

/** The semantic data models that keep a connection from being deleted. */
const UsedByModels = ({ connectionId }: { connectionId: string }) => {
  const { data: used } = useGet<SemanticDataModelPage>('/api/v2/semantic-data-models', {
    query: { data_connection_id: connectionId, limit: 20 },
    enabled: usePermission('listSemanticDataModels').allowed,
  });
  if (!used || used.data.length === 0) return null;
  return (
    <>
      <p>{words.deleteUsed(used.data.length, used.has_more)}</p>
      <LinkList
        links={used.data.map(({ id, name }) => ({ href: to.semanticDataModel(id), label: name }))}
        more={used.has_more ? words.more : null}
      />
    </>
  );
};

/** One data connection: whether it responds, its tables with their first rows, and its settings. */
export const DataConnectionPage = () => {
  const { dataConnectionId = '' } = useParams({ strict: false }) as { dataConnectionId?: string };
  const invalidate = useInvalidate();
  const address = path`/api/v2/data-connections/${dataConnectionId}`;
  const got = useGet<PublicDataConnection>(address, { every: listPolling(false) });
  const mayTest = permissionReason(usePermission('testDataConnection'));
  const mayChange = permissionReason(usePermission('updateDataConnection'));
  const mayDelete = permissionReason(usePermission('deleteDataConnection'));
  const test = useAction(async () => {
    const { body } = await request<DataConnectionTestResult>('POST', `${address}/test`);
    void invalidate('/api/v2/data-connections');
    return body;
  });
  return (
    <DetailPage
      got={got}
      operation="getDataConnection"
      kind={pages.dataConnection}
      name={({ name }) => name}
      list={{ label: pages.dataConnections, href: to.dataConnections() }}
      id={dataConnectionId}
      lead={(connection) => <StateSentence connection={connection} />}
      actions={({ name }) => (
        <>
          <DeleteButton
            path={address}
            etag={got.etag}
            title={words.deleteTitle}
            name={name}
            deleted={words.deleted}
            opens={to.dataConnections()}
            invalidates={['/api/v2/data-connections', '/api/v2/semantic-data-models']}
            disabledReason={mayDelete}
          >
            <p>{words.deleteText}</p>
            <UsedByModels connectionId={dataConnectionId} />
          </DeleteButton>
          <Button kind="primary" busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
            {common.test}
          </Button>
        </>
      )}
      above={
        <>
          {test.error && <Problem error={test.error} />}
          {got.data && test.result && <TestResult engine={got.data.engine} result={test.result} />}
        </>
      }
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
