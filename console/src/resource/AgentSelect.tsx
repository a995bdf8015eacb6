import { type ComponentProps, useState } from 'react';
import { common } from '../text/en/common.ts';
import { Select } from '../ui/index.ts';
import { type AgentMode, useAgent, useAgents } from './agents.ts';

/** The field that names an agent. The server searches if there are more than it lists. */
export const AgentSelect = ({
  mode,
  none,
  required = true,
  ...field
}: Omit<ComponentProps<typeof Select>, 'options' | 'onSearch' | 'nothing'> & {
  mode?: AgentMode;
  /** The text if no agent matches. */
  none: string;
}) => {
  const [typed, setTyped] = useState('');
  const { data: first } = useAgents({ mode });
  const listed = first?.data.find(({ id }) => id === field.value);
  const other = useAgent(first && !listed ? field.value : null);
  const chosen = listed ?? other;
  // The name of the chosen one is what the field shows, and no search.
  const q = typed === chosen?.name ? '' : typed.trim();
  const { data, loading } = useAgents({ mode, q: first?.has_more ? q : '' });
  const found = (data?.data ?? []).filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
  const others = chosen && found.every(({ id }) => id !== chosen.id) ? [chosen] : [];
  return (
    <Select
      {...field}
      options={[...found, ...others].map(({ id, name }) => ({ value: id, label: name }))}
      onSearch={setTyped}
      nothing={loading ? common.loading : none}
      required={required}
    />
  );
};
