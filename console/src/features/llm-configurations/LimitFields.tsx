import type { Form } from '../../api/index.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { Checkbox, FieldRow, NumberField, Select } from '../../ui/index.ts';
import type { LlmValues } from './values.ts';

const efforts = Object.entries(words.efforts).map(([value, label]) => ({ value, label }));

/** How the model is called, whatever its kind. */
export const LimitFields = ({
  form,
  disabledReason,
}: {
  form: Form<LlmValues>;
  disabledReason: string | null;
}) => (
  <>
    <h2>{words.limits}</h2>
    <FieldRow>
      <NumberField
        {...form.field('max_output_tokens')}
        label={words.max_output_tokens}
        hint={words.maxOutputHint}
        min={1}
        disabledReason={disabledReason}
      />
      <NumberField
        {...form.field('context_tokens')}
        label={words.context_tokens}
        hint={words.contextHint}
        min={1_000}
        disabledReason={disabledReason}
      />
    </FieldRow>
    <FieldRow>
      <NumberField
        {...form.field('timeout_seconds')}
        label={words.timeout_seconds}
        hint={words.timeoutHint}
        unit={words.seconds}
        min={1}
        max={600}
        disabledReason={disabledReason}
      />
      <NumberField
        {...form.field('temperature')}
        label={words.temperature}
        hint={words.temperatureHint}
        min={0}
        max={2}
        step={0.1}
        disabledReason={disabledReason}
      />
    </FieldRow>
    <Select
      {...form.field('reasoning_effort')}
      label={words.reasoning_effort}
      hint={words.effortHint}
      options={efforts}
      clearable
      disabledReason={disabledReason}
    />
    <Checkbox {...form.field('streaming')} label={words.streaming} disabledReason={disabledReason} />
    <Checkbox
      {...form.field('prompt_caching')}
      label={words.prompt_caching}
      disabledReason={disabledReason}
    />
  </>
);
