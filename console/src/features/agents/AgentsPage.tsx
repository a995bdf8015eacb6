import { useState } from 'react';
import type { AgentSummary } from '../../api/types.gen.ts';
import { ListPage } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { agents as words } from '../../text/en/agents.ts';
import { pages } from '../../text/en/pages.ts';
import { type MenuEntry, optionsOf, useDisabledReason } from '../../ui/index.ts';
import { columns } from './columns.tsx';
import { DeleteAgentDialog } from './DeleteAgentDialog.tsx';

export const AgentsPage = () => {
  const mayCreate = useDisabledReason('createAgent');
  const mayDelete = useDisabledReason('deleteAgent');
  const mayRun = useDisabledReason('createWorkItem');
  const [deleting, setDeleting] = useState<AgentSummary | null>(null);
  const runOnce = ({ id }: AgentSummary): MenuEntry => ({
    label: words.runOnce,
    href: to('/work-items/new', {}, { agent: id }),
    disabledReason: mayRun,
  });
  return (
    <ListPage
      title={pages.agents}
      words={words}
      operation="listAgentSummaries"
      filters={[{ name: 'q' }, { name: 'mode', label: words.mode, options: optionsOf(words.modes) }]}
      columns={columns}
      name={({ name }) => name}
      href={({ id }) => to('/agents/$agentId', { agentId: id })}
      menu={(agent) => [
        ...(agent.mode === 'worker' ? [runOnce(agent)] : []),
        {
          label: words.duplicate,
          href: to('/agents/new', {}, { copy: agent.id }),
          disabledReason: mayCreate,
        },
        {
          label: words.remove,
          danger: true,
          onSelect: () => setDeleting(agent),
          disabledReason: mayDelete,
        },
      ]}
      create={{ label: words.newAgent, operation: 'createAgent', href: to('/agents/new') }}
      example={[
        'createAgent',
        { name: 'Night clerk', mode: 'worker', instructions: 'Check the invoices of the day.' },
      ]}
    >
      {deleting && <DeleteAgentDialog agent={deleting} onClose={() => setDeleting(null)} />}
    </ListPage>
  );
};
