import { FilterSelect } from '../ui/index.ts';
import { type AgentMode, useAgentOptions } from './agents.ts';

/** What belongs to one agent. The agents are read when someone opens it, or to name the one that is chosen. */
export const AgentFilter = ({
  label,
  mode,
  value,
  onChange,
}: {
  label: string;
  mode: AgentMode;
  value: string | undefined;
  onChange: (agentId: string | undefined) => void;
}) => {
  const agents = useAgentOptions(value === undefined ? [] : [value], { mode });
  return <FilterSelect label={label} value={value} {...agents} onChange={onChange} />;
};
