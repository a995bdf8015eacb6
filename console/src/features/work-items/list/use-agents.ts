import { useState } from 'react';
import { useGet } from '../../../api/index.ts';
import type { AgentSummaryPage } from '../../../api/types.gen.ts';
import type { Option } from '../../../ui/index.ts';

/**
 * The agents for a filter, read when someone opens it and as they type. `known` are the names that the page has anyway,
 * so that what is chosen has its name from the start.
 */
export const useAgentOptions = (
  known: ReadonlyMap<string, string>,
  chosen: readonly string[],
): { options: readonly Option[]; onOpen: () => void; onSearch: (text: string) => void } => {
  const [open, setOpen] = useState(false);
  const [q, setQ] = useState('');
  const unknown = chosen.some((id) => !known.has(id));
  const { data } = useGet<AgentSummaryPage>('/app/api/agents', {
    query: { q, limit: 50 },
    enabled: open || unknown,
    keepPrevious: true,
    staleTime: 30_000,
  });
  const names = new Map(q === '' ? known : []);
  for (const id of chosen) names.set(id, known.get(id) ?? id.slice(0, 8));
  for (const { id, name } of data?.data ?? []) names.set(id, name);
  return {
    options: [...names].map(([value, label]) => ({ value, label })),
    onOpen: () => {
      setOpen(true);
      setQ('');
    },
    onSearch: setQ,
  };
};
