import type { Form } from '../../api/index.ts';
import { llmConfigurations as words } from '../../text/en/llm-configurations.ts';
import { Checkbox, FieldRow, NumberField, optionsOf, Select } from '../../ui/index.ts';
import type { LlmValues } from './values.ts';

const efforts = optionsOf(words.efforts);

/** How the model is called, whatever its kind. */
export const LimitFields = ({ form }: { form: Form<LlmValues> }) => (
  <>
    <h2>{words.limits}</h2>
    <FieldRow>
      <NumberField
        {...form.field('max_output_tokens')}
        label={words.max_output_tokens}
        hint={words.maxOutputHint}
        min={1}
      />
      <NumberField
        {...form.field('context_tokens')}
        label={words.context_tokens}
        hint={words.contextHint}
        min={1_000}
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
      />
      <NumberField
        {...form.field('temperature')}
        label={words.temperature}
        hint={words.temperatureHint}
        min={0}
        max={2}
        step={0.1}
      />
    </FieldRow>
    <Select
      {...form.field('reasoning_effort')}
      label={words.reasoning_effort}
      hint={words.effortHint}
      options={efforts}
      clearable
    />
    <Checkbox {...form.field('streaming')} label={words.streaming} />
    <Checkbox {...form.field('prompt_caching')} label={words.prompt_caching} />
  </>
);
