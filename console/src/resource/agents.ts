import { useState } from 'react';
import { type LoadState, useOperation } from '../api/index.ts';
import type { AgentSummaryPage, PublicAgent } from '../api/types.gen.ts';
import type { Option } from '../ui/index.ts';

export type AgentMode = PublicAgent['mode'];

/** The agents whose names have `q`, of one mode or of both, at most 50: the server searches. */
export const useAgents = ({
  q = '',
  mode,
  enabled = true,
}: {
  q?: string;
  mode?: AgentMode | undefined;
  enabled?: boolean;
} = {}): LoadState<AgentSummaryPage> =>
  useOperation(
    'listAgentSummaries',
    {},
    {
      query: { mode, q, limit: 50 },
      enabled,
      keepPrevious: true,
      staleTime: 30_000,
    },
  );

/** The agent of this id; null while it is not known, and without an id. */
export const useAgent = (id: string | null): PublicAgent | null => {
  const { data } = useOperation('getAgent', id === null ? null : { agent_id: id }, { staleTime: 30_000 });
  return id === null ? null : (data ?? null);
};

/**
 * The agents for a filter, read when someone opens it and as they type. `known` are the names that the page has anyway,
 * so that what is chosen has its name from the start.
 */
export const useAgentOptions = (
  chosen: readonly string[],
  { known = new Map(), mode }: { known?: ReadonlyMap<string, string>; mode?: AgentMode } = {},
): { options: readonly Option[]; onOpen: () => void; onSearch: (text: string) => void } => {
  const [open, setOpen] = useState(false);
  const [q, setQ] = useState('');
  const { data } = useAgents({ q, mode, enabled: open });
  const listed = new Map((data?.data ?? []).map(({ id, name }) => [id, name]));
  const other = useAgent(chosen.find((id) => !known.has(id) && !listed.has(id)) ?? null);
  const names = new Map(q === '' ? known : []);
  for (const id of chosen) {
    names.set(id, known.get(id) ?? listed.get(id) ?? (id === other?.id ? other.name : id.slice(0, 8)));
  }
  for (const [id, name] of listed) names.set(id, name);
  return {
    options: [...names].map(([value, label]) => ({ value, label })),
    onOpen: () => {
      setOpen(true);
      setQ('');
    },
    onSearch: setQ,
  };
};
