import { useParams } from '@tanstack/react-router';
import { listPolling, useOperation, usePermission } from '../../api/index.ts';
import { DetailPage, PageTabs, UsedByAgents } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import { Muted, permissionReason, TestSteps } from '../../ui/index.ts';
import { SettingsTab } from './SettingsTab.tsx';
import { StateSentence, waitingOf } from './sentences.tsx';
import { ToolsTab } from './ToolsTab.tsx';

export const ToolServerPage = () => {
  const { toolServerId } = useParams({ from: '/shell/tool-servers/$toolServerId' });
  const params = { tool_server_id: toolServerId };
  const got = useOperation('getUsedToolServer', params, { every: listPolling(false) });
  // A local process is a program that runs on this machine.
  const atLeast = got.data?.transport === 'stdio' ? 'admin' : 'member';
  const mayChange = permissionReason(usePermission('updateToolServer', atLeast));
  const mayUse = permissionReason(usePermission('updateTool'));
  return (
    <DetailPage
      got={got}
      operation="getUsedToolServer"
      kind={pages.toolServer}
      name={({ name }) => name}
      list={{ label: pages.toolServers, href: to('/tool-servers') }}
      id={toolServerId}
      lead={(server) => <StateSentence server={server} />}
      removal={{
        operation: 'deleteToolServer',
        params,
        atLeast,
        words,
        text: ({ used_by }) => (
          <>
            <p>{words.deleteText}</p>
            <UsedByAgents used_by={used_by} tab="tools" lead={words.deleteUsed(used_by.total)} />
          </>
        ),
      }}
      test={{
        operation: 'testToolServer',
        params,
        show: (result) => (
          <TestSteps
            words={words}
            result={result}
            note={<Muted small>{words.testTook(result.latency_ms)}</Muted>}
          />
        ),
      }}
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
