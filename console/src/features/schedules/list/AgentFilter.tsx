import { useAgentOptions } from '../../../resource/index.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { FilterChoice } from '../../../ui/index.ts';

/** The schedules of one agent. The agents are read when someone opens it, or to name the one that is chosen. */
export const AgentFilter = ({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (agentId: string | undefined) => void;
}) => {
  const chosen = value === undefined ? [] : [value];
  const agents = useAgentOptions(chosen, { mode: 'worker' });
  return <FilterChoice label={words.agent} value={chosen} {...agents} onChange={([id]) => onChange(id)} />;
};
