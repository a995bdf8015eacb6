import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { listPolling, path, useGet, usePermission } from '../../api/index.ts';
import type { AgentOverview } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useUrlState } from '../../app/url-state.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, ButtonLink, Loaded, Page, permissionReason, Tabs } from '../../ui/index.ts';
import { ConnectTab } from './ConnectTab.tsx';
import { ConversationsTab } from './ConversationsTab.tsx';
import { DeleteAgentDialog } from './DeleteAgentDialog.tsx';
import { InstructionsTab } from './InstructionsTab.tsx';
import { OverviewTab } from './OverviewTab.tsx';
import { SchedulesTab } from './SchedulesTab.tsx';
import { type agentSearch, agentTabs } from './search.ts';
import { ToolsTab } from './ToolsTab.tsx';
import { WorkItemsTab } from './WorkItemsTab.tsx';

type Tab = (typeof agentTabs)[number];

/** What only one of the two modes has. */
const hidden: Record<AgentOverview['mode'], readonly Tab[]> = {
  worker: ['conversations'],
  conversational: ['schedules', 'work-items'],
};

const Content = ({ agent, tab }: { agent: AgentOverview; tab: Tab }) => {
  switch (tab) {
    case 'overview':
      return <OverviewTab agent={agent} />;
    case 'schedules':
      return <SchedulesTab agentId={agent.id} />;
    case 'work-items':
      return <WorkItemsTab agentId={agent.id} />;
    case 'conversations':
      return <ConversationsTab agentId={agent.id} />;
    case 'instructions':
      return <InstructionsTab agentId={agent.id} />;
    case 'tools':
      return <ToolsTab agentId={agent.id} />;
    case 'connect':
      return <ConnectTab agent={agent} />;
  }
};

/** One agent. */
export const AgentPage = () => {
  const { agentId = '' } = useParams({ strict: false }) as { agentId?: string };
  const { search, href } = useUrlState<ReturnType<typeof agentSearch>>();
  const tab = search.tab ?? 'overview';
  const got = useGet<AgentOverview>(path`/app/api/agents/${agentId}/overview`, {
    every: tab === 'connect' ? 3_000 : listPolling(false),
  });
  const { data } = got;
  const [deleting, setDeleting] = useState(false);
  const mayDelete = permissionReason(usePermission('deleteAgent'));
  const mayCreate = permissionReason(usePermission('createAgent'));
  const mayRun = permissionReason(usePermission('createWorkItem'));
  return (
    <Page
      title={data?.name ?? pages.agent}
      crumbs={[{ label: pages.agents, href: to.agents() }]}
      lead={
        data && (
          <>
            {data.mode === 'worker'
              ? words.leadOf(words.modes.worker, words.execution[data.execution])
              : words.leadConversational}{' '}
            {data.description}
          </>
        )
      }
      actions={
        data && (
          <>
            <Button kind="quiet-danger" disabledReason={mayDelete} onClick={() => setDeleting(true)}>
              {common.delete}
            </Button>
            <ButtonLink href={to.newAgent(data.id)} disabledReason={mayCreate}>
              {words.duplicate}
            </ButtonLink>
            {data.mode === 'worker' && (
              <ButtonLink kind="primary" href={to.newWorkItem({ agent: data.id })} disabledReason={mayRun}>
                {words.runOnce}
              </ButtonLink>
            )}
          </>
        )
      }
    >
      <Loaded
        got={got}
        operation="getAgentOverview"
        list={{ label: pages.agents, href: to.agents() }}
        audit={to.audit({ target_id: agentId })}
      >
        {(agent) => (
          <Tabs
            label={pages.agent}
            value={tab}
            tabs={agentTabs
              .filter((value) => !hidden[agent.mode].includes(value))
              .map((value) => ({
                value,
                label: words.tabs[value],
                href: href({ tab: value === 'overview' ? undefined : value }),
                count: value === 'conversations' ? agent.conversations || undefined : undefined,
              }))}
          >
            <Content agent={agent} tab={tab} />
          </Tabs>
        )}
      </Loaded>
      {deleting && data && <DeleteAgentDialog agent={data} onClose={() => setDeleting(false)} />}
    </Page>
  );
};
