import { useOperation } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { SubmitForm, useCreateForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common, copyName } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import {
  Callout,
  Loaded,
  optionsOf,
  Page,
  Segmented,
  Textarea,
  TextField,
  useDisabledReason,
} from '../../ui/index.ts';
import { copiedCallbacks, leftOut } from './callbacks.ts';
import { LlmSelect } from './LlmSelect.tsx';
import type { newAgentSearch } from './search.ts';

const modes = optionsOf(words.modes);

/** The fields that a copy takes over and the form does not show. */
const copied = (agent: PublicAgent, mode: PublicAgent['mode']) => ({
  fallback_llm_ids: agent.fallback_llm_ids,
  tool_server_ids: agent.tool_server_ids,
  tool_policies: agent.tool_policies,
  semantic_data_model_ids: agent.semantic_data_model_ids,
  ...(mode === 'worker' && { result_schema: agent.result_schema, execution: agent.execution }),
  approval_role: agent.approval_role,
  approval_timeout_seconds: agent.approval_timeout_seconds,
  approval_timeout_outcome: agent.approval_timeout_outcome,
  callbacks: copiedCallbacks(agent),
  settings: agent.settings,
  model: agent.model,
});

const NewAgentForm = ({ copy }: { copy: PublicAgent | null }) => {
  const first = {
    name: copy ? copyName(copy.name) : '',
    mode: copy?.mode ?? ('worker' as const),
    description: copy?.description ?? '',
    instructions: copy?.instructions ?? '',
    llm_id: copy?.llm_id ?? null,
  };
  const secrets = copy ? leftOut(copy) : [];
  const form = useCreateForm({
    operation: 'createAgent',
    params: {},
    first,
    toBody: ({ description, ...values }) => ({
      ...(copy ? copied(copy, values.mode) : {}),
      ...values,
      description: description || null,
    }),
    disabledReason: useDisabledReason('createAgent'),
    created: words.created,
    opens: ({ id }) => to('/agents/$agentId', { agentId: id }),
  });
  return (
    <SubmitForm form={form} submit={words.create} discard={to('/agents')}>
      <TextField {...form.field('name')} label={common.name} required autoFocus />
      <Segmented {...form.field('mode')} label={words.mode} options={modes} />
      <p>{words.modeHints[form.values.mode]}</p>
      <Textarea {...form.field('instructions')} label={words.instructions} hint={words.instructionsHint} />
      <LlmSelect {...form.field('llm_id')} />
      <TextField {...form.field('description')} label={words.description} />
      {secrets.length > 0 && (
        <Callout title={words.leftOut}>
          <ul>
            {secrets.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
          <p>{words.leftOutMore}</p>
        </Callout>
      )}
    </SubmitForm>
  );
};

export const NewAgentPage = () => {
  const { copy } = useUrlState<ReturnType<typeof newAgentSearch>>().search;
  const got = useOperation('getAgent', copy === undefined ? null : { agent_id: copy });
  return (
    <Page title={pages.newAgent} crumbs={[{ label: pages.agents, href: to('/agents') }]}>
      {copy === undefined ? (
        <NewAgentForm copy={null} />
      ) : (
        <Loaded got={got} operation="getAgent" list={{ label: pages.agents, href: to('/agents') }}>
          {(agent) => <NewAgentForm copy={agent} />}
        </Loaded>
      )}
    </Page>
  );
};
