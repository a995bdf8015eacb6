import { path, useGet } from '../../api/index.ts';
import type { AgentOverview, AgentSummary } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { DeleteDialog } from '../../resource/index.ts';
import { agents as words } from '../../text/en/agents.ts';
import { openOf } from './columns.tsx';

/** Asks before an agent is deleted, and says what goes with it. */
export const DeleteAgentDialog = ({ agent, onClose }: { agent: AgentSummary; onClose: () => void }) => {
  const overview = useGet<AgentOverview>(path`/app/api/agents/${agent.id}/overview`);
  const conversations = overview.data?.conversations ?? 0;
  return (
    <DeleteDialog
      path={path`/api/v2/agents/${agent.id}`}
      title={words.remove}
      name={agent.name}
      deleted={words.removed}
      opens={to.agents()}
      invalidates={['/app/api/', '/api/v2/agents']}
      onClose={onClose}
    >
      <p>{words.removeText(agent.schedules.total, openOf(agent))}</p>
      {conversations > 0 && <p>{words.removeConversations(conversations)}</p>}
    </DeleteDialog>
  );
};
