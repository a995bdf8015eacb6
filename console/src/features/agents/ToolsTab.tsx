import { type Got, useGet, usePermission } from '../../api/index.ts';
import type { AgentTools, Named, PublicAgent } from '../../api/types.gen.ts';
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
import { type BuiltInTool, BuiltInToolsField } from './BuiltInToolsField.tsx';

const toValues = ({ tool_server_ids, semantic_data_model_ids, approval_role, settings }: PublicAgent) => ({
  builtin_tools: settings.builtin_tools,
  tool_server_ids,
  semantic_data_model_ids,
  approval_role,
});
type Values = ReturnType<typeof toValues>;
const toBody = ({ builtin_tools, ...fields }: Values) => ({ ...fields, settings: { builtin_tools } });
const labels = {
  builtin_tools: words.builtIn,
  tool_server_ids: words.toolServers,
  semantic_data_model_ids: words.dataModels,
  approval_role: words.approvalRole,
};

/** The named ones, and those chosen that the role may not read. */
const optionsWith = (named: readonly Named[], chosen: readonly string[]) => [
  ...named.map(({ id, name }) => ({ value: id, label: name })),
  ...chosen.filter((id) => !named.some((one) => one.id === id)).map((value) => ({ value, label: value })),
];

const ToolsForm = ({ agent, got }: { agent: PublicAgent; got: Got<PublicAgent> }) => {
  const maySeeServers = usePermission('listAgentTools');
  const maySeeModels = usePermission('listSemanticDataModels');
  const { data: tools } = useGet<AgentTools>('/app/api/agent-tools', { enabled: maySeeServers.allowed });
  const servers = tools?.tool_servers ?? [];
  const edit = useAgentForm(agent, got, toValues, toBody);
  const { form } = edit;
  return (
    <>
      <EditForm edit={edit} labels={labels} onSaved={() => notify(words.saved)}>
        <BuiltInToolsField
          {...form.field('builtin_tools')}
          onChange={(names) => form.set({ builtin_tools: names as BuiltInTool[] })}
        />
        <MultiSelect
          {...form.field('tool_server_ids')}
          label={words.toolServers}
          hint={words.toolServersHint}
          disabledReason={form.disabledReason ?? permissionReason(maySeeServers)}
          options={optionsWith(servers, form.values.tool_server_ids)}
          nothing={tools ? words.noToolServers : common.loading}
        />
        <MultiSelect
          {...form.field('semantic_data_model_ids')}
          label={words.dataModels}
          hint={words.dataModelsHint}
          disabledReason={form.disabledReason ?? permissionReason(maySeeModels)}
          options={optionsWith(tools?.semantic_data_models ?? [], form.values.semantic_data_model_ids)}
          nothing={tools ? words.noDataModels : common.loading}
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
                      {servers.find(({ id }) => id === tool_server_id)?.name ?? tool_server_id}
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
