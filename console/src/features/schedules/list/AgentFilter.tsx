import { useAgentOptions } from '../../../resource/index.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { FilterSelect } from '../../../ui/index.ts';

/** The schedules of one agent. The agents are read when someone opens it, or to name the one that is chosen. */
export const AgentFilter = ({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (agentId: string | undefined) => void;
}) => {
  const agents = useAgentOptions(value === undefined ? [] : [value], { mode: 'worker' });
  return <FilterSelect label={words.agent} value={value} {...agents} onChange={onChange} />;
};
