import { type Got, usePermission } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import { Button, Form, NumberField, Problem, permissionReason, Textarea, TextField } from '../../ui/index.ts';
import { AgentConflict, LoadedAgent, useAgentForm } from './AgentForm.tsx';
import { LlmSelect } from './LlmSelect.tsx';
import { settingNames, toBody, toValues } from './values.ts';

const labels = {
  name: common.name,
  description: words.description,
  instructions: words.instructions,
  llm_id: words.llm,
  model: words.override,
  ...words.settings,
};

const InstructionsForm = ({ agent, got }: { agent: PublicAgent; got: Got<PublicAgent> }) => {
  const reason = permissionReason(usePermission('updateAgent'));
  const edit = useAgentForm(agent, got, toValues, toBody);
  const { form } = edit;
  return (
    <>
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <>
            <Button type="submit" kind="plain" busy={form.busy} disabledReason={reason}>
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
        <TextField {...form.field('name')} label={common.name} disabledReason={reason} required />
        <TextField {...form.field('description')} label={words.description} disabledReason={reason} />
        <Textarea
          {...form.field('instructions')}
          label={words.instructions}
          hint={words.instructionsHint}
          disabledReason={reason}
        />
        <LlmSelect {...form.field('llm_id')} disabledReason={reason} />
        <TextField
          {...form.field('model')}
          label={words.override}
          hint={words.overrideHint}
          disabledReason={reason}
        />
        {settingNames.map((name) => (
          <NumberField
            key={name}
            {...form.field(name)}
            label={words.settings[name]}
            hint={words.hints[name]}
            unit={name === 'timeout_seconds' ? words.seconds : undefined}
            disabledReason={reason}
          />
        ))}
        {form.error && !form.conflict && <Problem error={form.error} />}
      </Form>
      <AgentConflict edit={edit} labels={labels} />
    </>
  );
};

/** Changes what the model is told, the model, and the limits. */
export const InstructionsTab = ({ agentId }: { agentId: string }) => (
  <LoadedAgent agentId={agentId}>{(agent, got) => <InstructionsForm agent={agent} got={got} />}</LoadedAgent>
);
