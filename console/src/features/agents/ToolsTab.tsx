import { type Got, useGet, usePermission } from '../../api/index.ts';
import type { PublicAgent, SemanticDataModelPage, ToolServerPage } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import {
  Box,
  Button,
  Facts,
  Form,
  Link,
  MultiSelect,
  Problem,
  permissionReason,
  Quiet,
  Section,
  Select,
} from '../../ui/index.ts';
import { AgentConflict, LoadedAgent, useAgentForm } from './AgentForm.tsx';

const toValues = ({ tool_server_ids, semantic_data_model_ids, approval_role }: PublicAgent) => ({
  tool_server_ids,
  semantic_data_model_ids,
  approval_role,
});
type Values = ReturnType<typeof toValues>;
const roles = Object.entries(words.roles).map(([value, label]) => ({ value, label }));
const labels = {
  tool_server_ids: words.toolServers,
  semantic_data_model_ids: words.dataModels,
  approval_role: words.approvalRole,
};

/** The named ones, and those chosen that the role may not read, or beyond the first hundred. */
const optionsOf = (names: ReadonlyMap<string, string>, chosen: readonly string[]) => [
  ...[...names].map(([value, label]) => ({ value, label })),
  ...chosen.filter((id) => !names.has(id)).map((value) => ({ value, label: value })),
];

const ToolsForm = ({ agent, got }: { agent: PublicAgent; got: Got<PublicAgent> }) => {
  const reason = permissionReason(usePermission('updateAgent'));
  const permission = usePermission('listToolServers');
  const servers = useGet<ToolServerPage>('/api/v2/tool-servers', {
    query: { limit: 100 },
    enabled: permission.allowed,
  });
  const names = new Map((servers.data?.data ?? []).map(({ id, name }) => [id, name]));
  const mayListModels = usePermission('listSemanticDataModels');
  const models = useGet<SemanticDataModelPage>('/api/v2/semantic-data-models', {
    query: { limit: 100 },
    enabled: mayListModels.allowed,
  });
  const modelNames = new Map((models.data?.data ?? []).map(({ id, name }) => [id, name]));
  const edit = useAgentForm(agent, got, toValues, (values: Values) => values);
  const { form } = edit;
  return (
    <>
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" busy={form.busy} disabledReason={reason}>
              {common.save}
            </Button>
            {form.dirty && (
              <Button kind="quiet" onClick={() => form.reset()}>
                {common.discard}
              </Button>
            )}
          </>
        }
      >
        <MultiSelect
          {...form.field('tool_server_ids')}
          label={words.toolServers}
          hint={words.toolServersHint}
          disabledReason={reason ?? permissionReason(permission)}
          options={optionsOf(names, form.values.tool_server_ids)}
          nothing={servers.loading ? common.loading : words.noToolServers}
        />
        <MultiSelect
          {...form.field('semantic_data_model_ids')}
          label={words.dataModels}
          hint={words.dataModelsHint}
          disabledReason={reason ?? permissionReason(mayListModels)}
          options={optionsOf(modelNames, form.values.semantic_data_model_ids)}
          nothing={models.loading ? common.loading : words.noDataModels}
        />
        <Select
          {...form.field('approval_role')}
          onChange={(role) => form.set({ approval_role: role as Values['approval_role'] })}
          label={words.approvalRole}
          options={roles}
          disabledReason={reason}
        />
        {form.error && !form.conflict && <Problem error={form.error} />}
      </Form>
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
                      {names.get(tool_server_id) ?? tool_server_id}
                    </Link>
                  </Quiet>
                </span>,
              ])}
            />
          </Box>
        </Section>
      )}
      <AgentConflict edit={edit} labels={labels} />
    </>
  );
};

/** Which tool servers and semantic data models the agent uses, and who may approve its calls. */
export const ToolsTab = ({ agentId }: { agentId: string }) => (
  <LoadedAgent agentId={agentId}>{(agent, got) => <ToolsForm agent={agent} got={got} />}</LoadedAgent>
);
