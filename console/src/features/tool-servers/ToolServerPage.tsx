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
import type { ToolServerTestResult, UsedToolServer } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { DeleteButton, DetailPage, PageTabs, UsedByAgents } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Button, Problem, permissionReason, Quiet, TestSteps } from '../../ui/index.ts';
import { SettingsTab } from './SettingsTab.tsx';
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
  const invalidate = useInvalidate();
  const got = useGet<UsedToolServer>(path`/app/api/tool-servers/${toolServerId}`, {
    every: listPolling(false),
  });
  const address = path`/api/v2/tool-servers/${toolServerId}`;
  const lists = ['/app/api/tool-servers', '/api/v2/tool-servers'];
  // A local process is a program that runs on this machine.
  const least = got.data?.transport === 'stdio' ? 'admin' : 'member';
  const mayTest = permissionReason(usePermission('testToolServer'));
  const mayChange = permissionReason(usePermission('updateToolServer', least));
  const mayDelete = permissionReason(usePermission('deleteToolServer', least));
  const mayUse = permissionReason(usePermission('updateTool'));
  const test = useAction(async () => {
    const { body } = await request<ToolServerTestResult>('POST', `${address}/test`);
    void invalidate(...lists);
    return body;
  });
  return (
    <DetailPage
      got={got}
      operation="getUsedToolServer"
      kind={pages.toolServer}
      name={({ name }) => name}
      list={{ label: pages.toolServers, href: to.toolServers() }}
      id={toolServerId}
      lead={(server) => <StateSentence server={server} />}
      actions={({ name, used_by }) => (
        <>
          <DeleteButton
            path={address}
            etag={got.etag}
            title={words.deleteTitle}
            name={name}
            deleted={words.deleted}
            opens={to.toolServers()}
            invalidates={lists}
            disabledReason={mayDelete}
          >
            <p>{words.deleteText}</p>
            {used_by.total > 0 && (
              <>
                <p>{words.deleteUsed(used_by.total)}</p>
                <UsedByAgents used_by={used_by} tab="tools" />
              </>
            )}
          </DeleteButton>
          <Button kind="primary" busy={test.busy} disabledReason={mayTest} onClick={() => void test.run()}>
            {common.test}
          </Button>
        </>
      )}
      above={
        <>
          {test.error && <Problem error={test.error} />}
          {test.result && <TestResult result={test.result} />}
        </>
      }
    >
      {(server) => (
        <PageTabs
          label={pages.toolServer}
          words={words.tabs}
          counts={{ tools: waitingOf(server) }}
          tabs={{
            tools: () => <ToolsTab server={server} disabledReason={mayUse} />,
            settings: () => <SettingsTab server={server} etag={got.etag} disabledReason={mayChange} />,
          }}
        />
      )}
    </DetailPage>
  );
};
