import { type LoadState, useOperation, usePermission } from '../../api/index.ts';
import type { Named, PublicAgent } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import {
  Checkbox,
  FieldRow,
  MultiSelect,
  notify,
  optionsOf,
  permissionReason,
  Section,
  Select,
  TextField,
} from '../../ui/index.ts';
import { LoadedAgent, useAgentForm } from './AgentForm.tsx';
import { DraftStatus } from './DraftStatus.tsx';
import css from './fields.module.css';
import { PolicyFields } from './PolicyFields.tsx';
import { readTimeout, timeoutText } from './timeout.ts';

const toValues = ({
  tool_server_ids,
  tool_policies,
  semantic_data_model_ids,
  approval_role,
  approval_timeout_seconds,
  approval_timeout_outcome,
  settings,
}: PublicAgent) => ({
  builtin_tools: settings.builtin_tools,
  tool_server_ids,
  tool_policies,
  semantic_data_model_ids,
  approval_role,
  approval_timeout_seconds: timeoutText(approval_timeout_seconds),
  approval_timeout_outcome,
  approver_not_requester: settings.approver_not_requester,
});
type Values = ReturnType<typeof toValues>;
const toBody = ({ builtin_tools, approver_not_requester, approval_timeout_seconds, ...fields }: Values) => ({
  ...fields,
  approval_timeout_seconds: readTimeout(approval_timeout_seconds),
  settings: { builtin_tools, approver_not_requester },
});
const labels = {
  builtin_tools: words.builtIn,
  tool_server_ids: words.toolServers,
  tool_policies: words.policies,
  semantic_data_model_ids: words.dataModels,
  approval_role: words.approvalRole,
  approval_timeout_seconds: words.decideWithin,
  approval_timeout_outcome: words.ifNoOne,
  approver_not_requester: words.approverNotRequester,
};

/** The named ones, and those chosen that the role may not read. */
const optionsWith = (named: readonly Named[], chosen: readonly string[]) => [
  ...named.map(({ id, name }) => ({ value: id, label: name })),
  ...chosen.filter((id) => !named.some((one) => one.id === id)).map((value) => ({ value, label: value })),
];

const ToolsForm = ({ agent, got }: { agent: PublicAgent; got: LoadState<PublicAgent> }) => {
  const maySeeServers = usePermission('listAgentTools');
  const maySeeModels = usePermission('listSemanticDataModels');
  const { data: tools } = useOperation('listAgentTools', {}, { enabled: maySeeServers.allowed });
  const servers = tools?.tool_servers ?? [];
  const edit = useAgentForm(agent, got, toValues, toBody);
  const { form } = edit;
  return (
    <EditForm
      edit={edit}
      labels={labels}
      texts={{
        tool_policies: (list) =>
          list.map(({ tool, policy }) => `${tool}: ${words.policy[policy]}`).join('\n'),
      }}
      onSaved={() => notify(words.saved)}
    >
      <MultiSelect
        {...form.field('builtin_tools')}
        onChange={(names) => form.set({ builtin_tools: names as Values['builtin_tools'] })}
        label={words.builtIn}
        hint={words.builtInHint}
        options={optionsOf(words.builtInTools)}
        nothing={words.noBuiltIn}
      />
      <MultiSelect
        {...form.field('tool_server_ids')}
        label={words.toolServers}
        hint={words.toolServersHint}
        disabledReason={form.disabledReason ?? permissionReason(maySeeServers)}
        options={optionsWith(servers, form.values.tool_server_ids)}
        nothing={tools ? words.noToolServers : common.loading}
      />
      <PolicyFields
        {...form.field('tool_policies')}
        disabledReason={form.disabledReason ?? permissionReason(maySeeServers)}
        servers={optionsWith(servers, [
          ...new Set(form.values.tool_policies.map(({ tool_server_id }) => tool_server_id)),
        ])}
      />
      <MultiSelect
        {...form.field('semantic_data_model_ids')}
        label={words.dataModels}
        hint={words.dataModelsHint}
        disabledReason={form.disabledReason ?? permissionReason(maySeeModels)}
        options={optionsWith(tools?.semantic_data_models ?? [], form.values.semantic_data_model_ids)}
        nothing={tools ? words.noDataModels : common.loading}
      />
      <Section title={words.approvals} note={words.approvalsNote}>
        <div className={css.stack}>
          <Select
            {...form.field('approval_role')}
            onChange={(role) => form.set({ approval_role: role as Values['approval_role'] })}
            label={words.approvalRole}
            options={optionsOf(words.roles)}
          />
          <FieldRow>
            <TextField
              {...form.field('approval_timeout_seconds')}
              label={words.decideWithin}
              hint={words.decideWithinHint}
            />
            <Select
              {...form.field('approval_timeout_outcome')}
              onChange={(outcome) =>
                form.set({ approval_timeout_outcome: outcome as Values['approval_timeout_outcome'] })
              }
              label={words.ifNoOne}
              hint={words.ifNoOneHints[form.values.approval_timeout_outcome]}
              options={optionsOf(words.ifNoOneOf)}
            />
          </FieldRow>
          <Checkbox
            {...form.field('approver_not_requester')}
            label={words.approverNotRequester}
            hint={words.approverNotRequesterHint}
          />
        </div>
      </Section>
    </EditForm>
  );
};

/** The form of tool servers, semantic data models, and approvals. */
export const ToolsTab = ({ agentId }: { agentId: string }) => (
  <LoadedAgent agentId={agentId}>
    {(agent, got) => (
      <>
        <DraftStatus agent={agent} />
        <ToolsForm agent={agent} got={got} />
      </>
    )}
  </LoadedAgent>
);
