import { useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { listPolling, useOperation } from '../../api/index.ts';
import { DetailPage, PageTabs } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, ButtonLink, Skeleton, useDisabledReason } from '../../ui/index.ts';
import { ConversationsTab } from './ConversationsTab.tsx';
import { DeleteAgentDialog } from './DeleteAgentDialog.tsx';
import { OverviewTab } from './OverviewTab.tsx';
import { SchedulesTab } from './SchedulesTab.tsx';
import type { agentSearch } from './search.ts';
import { TriggersTab } from './TriggersTab.tsx';
import { WorkItemsTab } from './WorkItemsTab.tsx';

// Forms with pickers: a third of the code of the page, which its first tab does without.
const ConnectTab = lazy(() => import('./ConnectTab.tsx').then(({ ConnectTab }) => ({ default: ConnectTab })));
const InstructionsTab = lazy(() =>
  import('./InstructionsTab.tsx').then(({ InstructionsTab }) => ({ default: InstructionsTab })),
);
const ToolsTab = lazy(() => import('./ToolsTab.tsx').then(({ ToolsTab }) => ({ default: ToolsTab })));
const VersionsTab = lazy(() =>
  import('./VersionsTab.tsx').then(({ VersionsTab }) => ({ default: VersionsTab })),
);

const later = (tab: ReactNode) => <Suspense fallback={<Skeleton rows={8} height={60} />}>{tab}</Suspense>;

export const AgentPage = () => {
  const { agentId } = useParams({ from: '/shell/agents/$agentId' });
  const { search } = useUrlState<ReturnType<typeof agentSearch>>();
  const got = useOperation(
    'getAgentOverview',
    { agent_id: agentId },
    {
      every: search.tab === 'connect' ? 3_000 : listPolling(false),
    },
  );
  const [deleting, setDeleting] = useState(false);
  const mayDelete = useDisabledReason('deleteAgent');
  const mayCreate = useDisabledReason('createAgent');
  const mayRun = useDisabledReason('createWorkItem');
  return (
    <DetailPage
      got={got}
      operation="getAgentOverview"
      kind={pages.agent}
      name={({ name }) => name}
      list={{ label: pages.agents, href: to('/agents') }}
      id={agentId}
      lead={({ mode, execution, description }) => (
        <>
          {mode === 'worker'
            ? words.leadOf(words.modes.worker, words.execution[execution])
            : words.leadConversational}{' '}
          {description}
        </>
      )}
      actions={(agent) => (
        <>
          <Button kind="quiet-danger" disabledReason={mayDelete} onClick={() => setDeleting(true)}>
            {common.delete}
          </Button>
          <ButtonLink href={to('/agents/new', {}, { copy: agent.id })} disabledReason={mayCreate}>
            {words.duplicate}
          </ButtonLink>
          {agent.mode === 'worker' && (
            <ButtonLink
              kind="primary"
              href={to('/work-items/new', {}, { agent: agent.id })}
              disabledReason={mayRun}
            >
              {words.runOnce}
            </ButtonLink>
          )}
          {deleting && <DeleteAgentDialog agent={agent} onClose={() => setDeleting(false)} />}
        </>
      )}
    >
      {(agent) => {
        const worker = agent.mode === 'worker';
        return (
          <PageTabs
            label={pages.agent}
            words={words.tabs}
            counts={{ conversations: agent.conversations }}
            tabs={{
              overview: () => <OverviewTab agent={agent} />,
              schedules: worker ? () => <SchedulesTab agentId={agent.id} /> : null,
              triggers: worker ? () => <TriggersTab agentId={agent.id} /> : null,
              'work-items': worker ? () => <WorkItemsTab agentId={agent.id} /> : null,
              conversations: worker ? null : () => <ConversationsTab agentId={agent.id} />,
              instructions: () => later(<InstructionsTab agentId={agent.id} />),
              tools: () => later(<ToolsTab agentId={agent.id} />),
              versions: () => later(<VersionsTab agentId={agent.id} />),
              connect: () => later(<ConnectTab agent={agent} />),
            }}
          />
        );
      }}
    </DetailPage>
  );
};
