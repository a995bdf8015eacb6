import { useNavigate } from '@tanstack/react-router';
import { path, request, useAction, useGet, useInvalidate } from '../../api/index.ts';
import type { AgentOverview, AgentSummary } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { agents as words } from '../../text/en/agents.ts';
import { ActionDialog, notify } from '../../ui/index.ts';
import { openOf } from './columns.tsx';

/** Asks before an agent is deleted, and says what goes with it. */
export const DeleteAgentDialog = ({ agent, onClose }: { agent: AgentSummary; onClose: () => void }) => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const overview = useGet<AgentOverview>(path`/app/api/agents/${agent.id}/overview`);
  const conversations = overview.data?.conversations ?? 0;
  const action = useAction(async () => {
    await request('DELETE', path`/api/v2/agents/${agent.id}`);
    notify(words.removed);
    onClose();
    await navigate({ to: to.agents() });
    await invalidate('/app/api/', '/api/v2/agents');
  });
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.remove}
      kind="danger"
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
    >
      <p>
        <b>{agent.name}</b>
      </p>
      <p>{words.removeText(agent.schedules.total, openOf(agent))}</p>
      {conversations > 0 && <p>{words.removeConversations(conversations)}</p>}
    </ActionDialog>
  );
};
