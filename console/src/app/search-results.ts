import { useEffect, useState } from 'react';
import { useMe } from '../api/me.ts';
import { useGet } from '../api/query.ts';
import type { SearchHit, SearchResult } from '../api/types.gen.ts';
import { shell } from '../text/en/shell.ts';
import { to } from './addresses.ts';

/** The address of what was found. What has no page of its own is found in its list. */
const hrefOf = ({ kind, id, detail, agent_id }: SearchHit): string => {
  switch (kind) {
    case 'agent':
      return to.agent(id);
    case 'schedule':
      return agent_id ? to.schedule(agent_id, id) : to.scheduleById(id);
    case 'work_item':
      return to.workItem(id);
    case 'integration':
      return to.integration(id);
    case 'llm_configuration':
      return to.llmConfiguration(id);
    case 'tool_server':
      return to.toolServer(id);
    case 'data_connection':
      return to.dataConnection(id);
    case 'semantic_data_model':
      return to.semanticDataModel(id);
    case 'api_key':
      return to.apiKeys({ q: detail });
    case 'setting':
      return to.settings({ q: id });
  }
};

/** Returns `value` once it has not changed for 150 ms. */
const useSettled = (value: string): string => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 150);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
};

/** Returns what the platform finds for a query, if it has a search. */
export const useFound = (query: string): { label: string; note: string; href: string }[] => {
  const settled = useSettled(query);
  const enabled = useMe().operations.includes('search') && settled.length > 0;
  const { data } = useGet<SearchResult>('/app/api/search', {
    query: { q: settled },
    enabled,
    keepPrevious: true,
  });
  if (!enabled || query === '') return [];
  return (data?.data ?? []).map((hit) => ({
    label: hit.title || hit.id,
    note: hit.kind === 'setting' ? shell.kinds.setting : shell.found(shell.kinds[hit.kind], hit.detail),
    href: hrefOf(hit),
  }));
};
