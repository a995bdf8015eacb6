import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import {
  listPolling,
  path,
  request,
  useAction,
  useGet,
  useInvalidate,
  usePermission,
} from '../../api/index.ts';
import type { DataConnectionTestResult, PublicDataConnection } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { dataConnections as words } from '../../text/en/data-connections.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, Loaded, Page, Problem, permissionReason, Tabs } from '../../ui/index.ts';
import { DeleteConnectionDialog } from './DeleteConnectionDialog.tsx';
import { SettingsTab } from './SettingsTab.tsx';
import { type dataConnectionSearch, dataConnectionTabs } from './search.ts';
import { StateSentence, TestResult } from './sentences.tsx';
import { TablesTab } from './TablesTab.tsx';

/** One data connection: whether it responds, its tables with their first rows, and its settings. */
export const DataConnectionPage = () => {
  const { dataConnectionId = '' } = useParams({ strict: false }) as { dataConnectionId?: string };
  const { search } = useUrlState<ReturnType<typeof dataConnectionSearch>>();
  const tab = search.tab ?? 'tables';
  const invalidate = useInvalidate();
  const address = path`/api/v2/data-connections/${dataConnectionId}`;
  const got = useGet<PublicDataConnection>(address, { every: listPolling(false) });
  const { data } = got;
  const mayTest = permissionReason(usePermission('testDataConnection'));
  const mayChange = permissionReason(usePermission('updateDataConnection'));
  const mayDelete = permissionReason(usePermission('deleteDataConnection'));
  const [deleting, setDeleting] = useState(false);
  const [result, setResult] = useState<DataConnectionTestResult | null>(null);
  const test = useAction(async () => {
    setResult(null);
    const { body } = await request<DataConnectionTestResult>('POST', `${address}/test`);
    setResult(body);
    await invalidate('/api/v2/data-connections');
  });
  return (
    <Page
      title={data?.name ?? pages.dataConnection}
      crumbs={[{ label: pages.dataConnections, href: to.dataConnections() }]}
      lead={data && <StateSentence connection={data} />}
      actions={
        data && (
          <>
            <Button kind="quiet-danger" disabledReason={mayDelete} onClick={() => setDeleting(true)}>
              {common.delete}
            </Button>
            <Button kind="primary" busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
              {common.test}
            </Button>
          </>
        )
      }
    >
      {test.error && <Problem error={test.error} />}
      {data && result && <TestResult engine={data.engine} result={result} />}
      <Loaded
        got={got}
        operation="getDataConnection"
        list={{ label: pages.dataConnections, href: to.dataConnections() }}
        audit={to.audit({ target_id: dataConnectionId })}
      >
        {(connection) => (
          <Tabs
            label={pages.dataConnection}
            value={tab}
            tabs={dataConnectionTabs.map((value) => ({
              value,
              label: words.tabs[value],
              href: to.dataConnection(dataConnectionId, value === 'tables' ? {} : { tab: value }),
            }))}
          >
            {tab === 'tables' ? (
              <TablesTab connectionId={dataConnectionId} />
            ) : (
              <SettingsTab connection={connection} etag={got.etag} disabledReason={mayChange} />
            )}
          </Tabs>
        )}
      </Loaded>
      {data && deleting && (
        <DeleteConnectionDialog connection={data} etag={got.etag} onClose={() => setDeleting(false)} />
      )}
    </Page>
  );
};
