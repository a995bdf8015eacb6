import { useState } from 'react';
import { type FieldProps, path, useGet } from '../../../api/index.ts';
import type { AgentSummaryPage, PublicAgent } from '../../../api/types.gen.ts';
import { common } from '../../../text/en/common.ts';
import { scheduleForm as words } from '../../../text/en/schedule-form.ts';
import { Select } from '../../../ui/index.ts';

/** The Worker agents whose names have `q`, at most 50. */
export const useWorkers = (q = '') =>
  useGet<AgentSummaryPage>('/app/api/agents', {
    query: { mode: 'worker', q, limit: 50 },
    keepPrevious: true,
    staleTime: 30_000,
  });

/** The agent of this id if it is not among those that are listed; null if it is, or is not known yet. */
const useOther = (id: string | null, listed: readonly { id: string }[] | undefined): PublicAgent | null => {
  const enabled = id !== null && listed?.every((agent) => agent.id !== id) === true;
  const { data } = useGet<PublicAgent>(path`/api/v2/agents/${id ?? ''}`, { enabled, staleTime: 30_000 });
  return enabled ? (data ?? null) : null;
};

/** Which agent runs. The server searches if there are more than it lists. */
export const AgentField = ({ field }: { field: FieldProps<string | null> }) => {
  const [typed, setTyped] = useState('');
  const { data: first } = useWorkers();
  const other = useOther(field.value, first?.data);
  const chosen = first?.data.find(({ id }) => id === field.value) ?? other;
  // The name of the chosen one is what the field shows, and no search.
  const q = typed === chosen?.name ? '' : typed.trim();
  const { data, loading } = useWorkers(first?.has_more ? q : '');
  const found = (data?.data ?? []).filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
  const others = chosen && found.every(({ id }) => id !== chosen.id) ? [chosen] : [];
  return (
    <Select
      {...field}
      label={words.agent}
      options={[...found, ...others].map(({ id, name }) => ({ value: id, label: name }))}
      onSearch={setTyped}
      nothing={loading ? common.loading : words.noAgentMatches}
      required
    />
  );
};
