import type { LoadState } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { EditForm } from '../../resource/index.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import { NumberField, notify, optionsOf, Segmented, Textarea, TextField } from '../../ui/index.ts';
import { LoadedAgent, useAgentForm } from './AgentForm.tsx';
import { DraftStatus } from './DraftStatus.tsx';
import { FallbackSelect, LlmSelect } from './LlmSelect.tsx';
import { hintOf, settingNames, toBody, toValues } from './values.ts';

const labels = {
  name: common.name,
  description: words.description,
  instructions: words.instructions,
  llm_id: words.llm,
  model: words.override,
  fallback_llm_ids: words.fallbacks,
  execution: words.executedBy,
  result_schema: words.resultSchema,
  ...words.settings,
};

const executions = optionsOf(words.executions);

const InstructionsForm = ({ agent, got }: { agent: PublicAgent; got: LoadState<PublicAgent> }) => {
  const edit = useAgentForm(agent, got, toValues, toBody);
  const { form } = edit;
  return (
    <EditForm edit={edit} labels={labels} onSaved={() => notify(words.saved)}>
      <TextField {...form.field('name')} label={common.name} required />
      <TextField {...form.field('description')} label={words.description} />
      <Textarea {...form.field('instructions')} label={words.instructions} hint={words.instructionsHint} />
      <LlmSelect {...form.field('llm_id')} />
      <TextField {...form.field('model')} label={words.override} hint={words.overrideHint} />
      <FallbackSelect {...form.field('fallback_llm_ids')} />
      {agent.mode === 'worker' && (
        <>
          <Segmented {...form.field('execution')} label={words.executedBy} options={executions} />
          <Textarea
            {...form.field('result_schema')}
            label={words.resultSchema}
            hint={words.resultSchemaHint}
            rows={6}
            mono
          />
        </>
      )}
      {settingNames.map((name) => (
        <NumberField
          key={name}
          {...form.field(name)}
          label={words.settings[name]}
          hint={hintOf(name)}
          unit={name === 'timeout_seconds' ? words.seconds : undefined}
        />
      ))}
    </EditForm>
  );
};

/** The form of instructions, model and limits. */
export const InstructionsTab = ({ agentId }: { agentId: string }) => (
  <LoadedAgent agentId={agentId}>
    {(agent, got) => (
      <>
        <DraftStatus agent={agent} />
        <InstructionsForm agent={agent} got={got} />
      </>
    )}
  </LoadedAgent>
);
