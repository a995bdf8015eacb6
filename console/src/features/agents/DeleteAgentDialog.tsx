import { useOperation } from '../../api/index.ts';
import type { AgentSummary } from '../../api/types.gen.ts';
import { DeleteDialog } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { agents as words } from '../../text/en/agents.ts';
import { openOf } from './columns.tsx';

export const DeleteAgentDialog = ({ agent, onClose }: { agent: AgentSummary; onClose: () => void }) => {
  const overview = useOperation('getAgentOverview', { agent_id: agent.id });
  const conversations = overview.data?.conversations ?? 0;
  return (
    <DeleteDialog
      operation="deleteAgent"
      params={{ agent_id: agent.id }}
      title={words.remove}
      name={agent.name}
      deleted={words.removed}
      opens={to('/agents')}
      onClose={onClose}
    >
      <p>{words.removeText(agent.schedules.total, openOf(agent))}</p>
      {conversations > 0 && <p>{words.removeConversations(conversations)}</p>}
    </DeleteDialog>
  );
};
