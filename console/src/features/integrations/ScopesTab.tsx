import { useState } from 'react';
import { perform, useAction, usePermission } from '../../api/index.ts';
import type { ShownIntegration, ShownScope } from '../../api/types.gen.ts';
import { AgentSelect } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import {
  ActionDialog,
  Bar,
  Box,
  Button,
  type Column,
  EmptyState,
  Problem,
  permissionReason,
  Section,
  Table,
} from '../../ui/index.ts';

const nameOf = ({ agent }: ShownScope): string => agent?.name ?? words.global;
const columns: readonly Column<ShownScope>[] = [{ key: 'agent', title: words.agent, cell: nameOf }];

export const ScopesTab = ({ integration: { id, scopes } }: { integration: ShownIntegration }) => {
  const params = { integration_id: id };
  const mayAdd = permissionReason(usePermission('createObservabilityScope'));
  const mayRemove = permissionReason(usePermission('deleteObservabilityScope'));
  const [adding, setAdding] = useState(false);
  const [agentId, setAgentId] = useState<string | null>(null);
  const add = useAction(async (agent_id: string | null) => {
    await perform('createObservabilityScope', params, {
      body: agent_id === null ? { scope: 'global' } : { scope: 'agent', agent_id },
    });
    setAdding(false);
    setAgentId(null);
  });
  const remove = useAction(({ scope, agent }: ShownScope) =>
    perform('deleteObservabilityScope', params, { query: { scope, agent_id: agent?.id } }),
  );
  const hasGlobal = scopes.some(({ scope }) => scope === 'global');
  return (
    <Section
      note={words.scopesText}
      label={words.tabs.scopes}
      aside={
        <Bar>
          {!hasGlobal && (
            <Button small disabledReason={mayAdd} onClick={() => void add.run(null)}>
              {words.addGlobal}
            </Button>
          )}
          <Button small disabledReason={mayAdd} onClick={() => setAdding(true)}>
            {words.addAgent}
          </Button>
        </Bar>
      }
    >
      {(remove.error ?? (adding ? null : add.error)) && <Problem error={(remove.error ?? add.error)!} />}
      <Box>
        {scopes.length === 0 ? (
          <EmptyState sentence={words.noScopes} />
        ) : (
          <Table
            label={words.tabs.scopes}
            rows={scopes}
            columns={columns}
            rowKey={({ agent }) => agent?.id ?? 'global'}
            name={nameOf}
            actions={(scope) => [
              ...(scope.agent
                ? [{ label: common.edit, href: to('/agents/$agentId', { agentId: scope.agent.id }) }]
                : []),
              {
                label: words.remove,
                danger: true,
                onSelect: () => void remove.run(scope),
                disabledReason: mayRemove,
              },
            ]}
          />
        )}
      </Box>
      <ActionDialog
        open={adding}
        onClose={() => setAdding(false)}
        title={words.addAgent}
        onConfirm={() => agentId !== null && void add.run(agentId)}
        busy={add.busy}
        error={add.error}
      >
        <AgentSelect label={words.agent} value={agentId} onChange={setAgentId} none={words.noAgentMatches} />
      </ActionDialog>
    </Section>
  );
};
