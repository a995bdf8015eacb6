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
import type { ToolServerTestResult, UsedToolServer } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Button, Loaded, Page, Problem, permissionReason, Quiet, Tabs, TestSteps } from '../../ui/index.ts';
import { DeleteServerDialog } from './DeleteServerDialog.tsx';
import { SettingsTab } from './SettingsTab.tsx';
import { type toolServerSearch, toolServerTabs } from './search.ts';
import { StateSentence, waitingOf } from './sentences.tsx';
import { ToolsTab } from './ToolsTab.tsx';

const TestResult = ({ result: { ok, steps, latency_ms } }: { result: ToolServerTestResult }) => (
  <TestSteps
    label={words.testTitle}
    ok={ok}
    title={ok ? words.testOk : words.testFailed}
    steps={steps.map(({ step, ...result }) => ({ name: words.steps[step], ...result }))}
    note={<Quiet small>{words.testTook(latency_ms)}</Quiet>}
  />
);

/** One tool server: how it is, its tools with their policies, and its settings. */
export const ToolServerPage = () => {
  const { toolServerId = '' } = useParams({ strict: false }) as { toolServerId?: string };
  const { search, href } = useUrlState<ReturnType<typeof toolServerSearch>>();
  const tab = search.tab ?? 'tools';
  const invalidate = useInvalidate();
  const got = useGet<UsedToolServer>(path`/app/api/tool-servers/${toolServerId}`, {
    every: listPolling(false),
  });
  const { data } = got;
  // A local process is a program that runs on this machine.
  const least = data?.transport === 'stdio' ? 'admin' : 'member';
  const mayTest = permissionReason(usePermission('testToolServer'));
  const mayChange = permissionReason(usePermission('updateToolServer', least));
  const mayDelete = permissionReason(usePermission('deleteToolServer', least));
  const mayUse = permissionReason(usePermission('updateTool'));
  const [deleting, setDeleting] = useState(false);
  const [result, setResult] = useState<ToolServerTestResult | null>(null);
  const test = useAction(async () => {
    setResult(null);
    const { body } = await request<ToolServerTestResult>(
      'POST',
      path`/api/v2/tool-servers/${toolServerId}/test`,
    );
    setResult(body);
    await invalidate('/app/api/tool-servers', '/api/v2/tool-servers');
  });
  return (
    <Page
      title={data?.name ?? pages.toolServer}
      crumbs={[{ label: pages.toolServers, href: to.toolServers() }]}
      lead={data && <StateSentence server={data} />}
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
      {result && <TestResult result={result} />}
      <Loaded
        got={got}
        operation="getUsedToolServer"
        list={{ label: pages.toolServers, href: to.toolServers() }}
        audit={to.audit({ target_id: toolServerId })}
      >
        {(server) => (
          <Tabs
            label={pages.toolServer}
            value={tab}
            tabs={toolServerTabs.map((value) => ({
              value,
              label: words.tabs[value],
              href: href({
                tab: value === 'tools' ? undefined : value,
                q: undefined,
                state: undefined,
                tool: undefined,
              }),
              count: value === 'tools' && waitingOf(server) > 0 ? waitingOf(server) : undefined,
            }))}
          >
            {tab === 'tools' ? (
              <ToolsTab server={server} disabledReason={mayUse} />
            ) : (
              <SettingsTab server={server} etag={got.etag} disabledReason={mayChange} />
            )}
          </Tabs>
        )}
      </Loaded>
      {data && deleting && (
        <DeleteServerDialog server={data} etag={got.etag} onClose={() => setDeleting(false)} />
      )}
    </Page>
  );
};
