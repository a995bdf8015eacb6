import { useState } from 'react';
import { useGet } from '../../../api/index.ts';
import type { AgentPage } from '../../../api/types.gen.ts';
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
  const [opened, setOpened] = useState(false);
  const { data } = useGet<AgentPage>('/api/v2/agents', {
    query: { limit: 200 },
    enabled: opened || value !== undefined,
    staleTime: 60_000,
  });
  const workers = (data?.data ?? []).filter(({ id, mode }) => mode === 'worker' || id === value);
  return (
    <FilterChoice
      label={words.agent}
      value={value === undefined ? [] : [value]}
      options={workers.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={([id]) => onChange(id)}
      onOpen={() => setOpened(true)}
    />
  );
};
