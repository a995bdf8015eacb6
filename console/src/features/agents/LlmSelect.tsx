import { useGet, usePermission } from '../../api/index.ts';
import type { LlmConfigurationPage } from '../../api/types.gen.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import { permissionReason, Select } from '../../ui/index.ts';

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
  const permission = usePermission('listLlmConfigurations');
  const got = useGet<LlmConfigurationPage>('/api/v2/llm-configurations', {
    query: { limit: 100 },
    enabled: permission.allowed,
  });
  return (
    <Select
      name="llm_id"
      label={words.llm}
      hint={words.llmHint}
      value={value}
      onChange={onChange}
      error={error}
      clearable
      disabledReason={disabledReason ?? permissionReason(permission)}
      options={(got.data?.data ?? []).map(({ id, name, model }) => ({ value: id, label: name, note: model }))}
      nothing={got.loading ? common.loading : undefined}
    />
  );
};
