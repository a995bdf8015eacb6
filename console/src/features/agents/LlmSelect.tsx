import { useLlmOptions } from '../../resource/index.ts';
import { agents as words } from '../../text/en/agents.ts';
import { MultiSelect, Select } from '../../ui/index.ts';

/** The LLM configurations that take over, in the order in which they were chosen. */
export const FallbackSelect = ({
  value,
  disabledReason,
  ...field
}: {
  name: string;
  value: string[];
  onChange: (value: string[]) => void;
  error: string | undefined;
  disabledReason: string | null | undefined;
}) => {
  const { reason, options, nothing } = useLlmOptions();
  const unknown = value.filter((id) => !options.some((option) => option.value === id));
  return (
    <MultiSelect
      {...field}
      label={words.fallbacks}
      hint={words.fallbacksHint}
      value={value}
      disabledReason={disabledReason ?? reason}
      options={[...options, ...unknown.map((id) => ({ value: id, label: id }))]}
      nothing={nothing}
    />
  );
};

/** The LLM configuration of an agent; none is the default. A role that may not read them keeps what is set. */
export const LlmSelect = ({
  value,
  onChange,
  error,
  disabledReason,
}: {
  value: string | null;
  onChange: (value: string | null) => void;
  error?: string | undefined;
  disabledReason?: string | null | undefined;
}) => {
  const { reason, options, nothing } = useLlmOptions();
  return (
    <Select
      name="llm_id"
      label={words.llm}
      hint={words.llmHint}
      value={value}
      onChange={onChange}
      error={error}
      clearable
      disabledReason={disabledReason ?? reason}
      options={options}
      nothing={nothing}
    />
  );
};
