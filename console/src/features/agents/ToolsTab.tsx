import { type Got, useGet, usePermission } from '../../api/index.ts';
import type { PublicAgent, SemanticDataModelPage, ToolServerPage } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { EditForm } from '../../resource/index.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import {
  Box,
  Facts,
  Link,
  MultiSelect,
  notify,
  optionsOf,
  permissionReason,
  Quiet,
  Section,
  Select,
} from '../../ui/index.ts';
import { LoadedAgent, useAgentForm } from './AgentForm.tsx';

const toValues = ({ tool_server_ids, semantic_data_model_ids, approval_role }: PublicAgent) => ({
  tool_server_ids,
  semantic_data_model_ids,
  approval_role,
});
type Values = ReturnType<typeof toValues>;
const labels = {
  tool_server_ids: words.toolServers,
  semantic_data_model_ids: words.dataModels,
  approval_role: words.approvalRole,
};

/** The named ones, and those chosen that the role may not read, or beyond the first hundred. */
const optionsWith = (names: ReadonlyMap<string, string>, chosen: readonly string[]) => [
  ...[...names].map(([value, label]) => ({ value, label })),
  ...chosen.filter((id) => !names.has(id)).map((value) => ({ value, label: value })),
];

/** The names of what a list has, by their ids, or why the role may not read it. */
const useNames = (path: string, operation: string) => {
  const permission = usePermission(operation);
  const got = useGet<ToolServerPage | SemanticDataModelPage>(path, {
    query: { limit: 100 },
    enabled: permission.allowed,
  });
  return {
    names: new Map((got.data?.data ?? []).map(({ id, name }) => [id, name])),
    loading: got.loading,
    reason: permissionReason(permission),
  };
};

const ToolsForm = ({ agent, got }: { agent: PublicAgent; got: Got<PublicAgent> }) => {
  const servers = useNames('/api/v2/tool-servers', 'listToolServers');
  const models = useNames('/api/v2/semantic-data-models', 'listSemanticDataModels');
  const edit = useAgentForm(agent, got, toValues, (values: Values) => values);
  const { form } = edit;
  return (
    <>
      <EditForm edit={edit} labels={labels} onSaved={() => notify(words.saved)}>
        <MultiSelect
          {...form.field('tool_server_ids')}
          label={words.toolServers}
          hint={words.toolServersHint}
          disabledReason={form.disabledReason ?? servers.reason}
          options={optionsWith(servers.names, form.values.tool_server_ids)}
          nothing={servers.loading ? common.loading : words.noToolServers}
        />
        <MultiSelect
          {...form.field('semantic_data_model_ids')}
          label={words.dataModels}
          hint={words.dataModelsHint}
          disabledReason={form.disabledReason ?? models.reason}
          options={optionsWith(models.names, form.values.semantic_data_model_ids)}
          nothing={models.loading ? common.loading : words.noDataModels}
        />
        <Select
          {...form.field('approval_role')}
          onChange={(role) => form.set({ approval_role: role as Values['approval_role'] })}
          label={words.approvalRole}
          options={optionsOf(words.roles)}
        />
      </EditForm>
      {agent.tool_policies.length > 0 && (
        <Section title={words.policies} note={words.policiesHint}>
          <Box padded>
            <Facts
              facts={agent.tool_policies.map(({ tool_server_id, tool, policy }) => [
                tool,
                <span key={tool_server_id + tool}>
                  {words.policy[policy]}{' '}
                  <Quiet small>
                    <Link href={to.toolServer(tool_server_id)}>
                      {servers.names.get(tool_server_id) ?? tool_server_id}
                    </Link>
                  </Quiet>
                </span>,
              ])}
            />
          </Box>
        </Section>
      )}
    </>
  );
};

/** Which tool servers and semantic data models the agent uses, and who may approve its calls. */
export const ToolsTab = ({ agentId }: { agentId: string }) => (
  <LoadedAgent agentId={agentId}>{(agent, got) => <ToolsForm agent={agent} got={got} />}</LoadedAgent>
);
