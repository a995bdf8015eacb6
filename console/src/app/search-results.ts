import { useEffect, useState } from 'react';
import { useMe } from '../api/me.ts';
import { useOperation } from '../api/query.ts';
import type { SearchHit } from '../api/types.gen.ts';
import { to } from '../routing/to.ts';
import { shell } from '../text/en/shell.ts';

/** The address of what was found. What has no page of its own is found in its list. */
const hrefOf = ({ kind, id, detail, agent_id }: SearchHit): string => {
  switch (kind) {
    case 'agent':
      return to('/agents/$agentId', { agentId: id });
    case 'schedule':
      return agent_id
        ? to('/agents/$agentId/schedules/$scheduleId', { agentId: agent_id, scheduleId: id })
        : to('/schedules/$scheduleId', { scheduleId: id });
    case 'work_item':
      return to('/work-items/$workItemId', { workItemId: id });
    case 'integration':
      return to('/integrations/$integrationId', { integrationId: id });
    case 'llm_configuration':
      return to('/llm-configurations/$llmId', { llmId: id });
    case 'tool_server':
      return to('/tool-servers/$toolServerId', { toolServerId: id });
    case 'data_connection':
      return to('/data-connections/$dataConnectionId', { dataConnectionId: id });
    case 'semantic_data_model':
      return to('/semantic-data-models/$semanticDataModelId', { semanticDataModelId: id });
    case 'api_key':
      return to('/api-keys', {}, { q: detail });
    case 'setting':
      return to('/settings', {}, { q: id });
  }
};

const useSettled = (value: string): string => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 150);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
};

/** Returns the platform's search results, if it has a search. */
export const useFound = (query: string): { label: string; note: string; href: string }[] => {
  const settled = useSettled(query);
  const enabled = useMe().operations.includes('search') && settled.length > 0;
  const { data } = useOperation(
    'search',
    {},
    {
      query: { q: settled },
      enabled,
      keepPrevious: true,
    },
  );
  if (!enabled || query === '') return [];
  return (data?.data ?? []).map((hit) => ({
    label: hit.title || hit.id,
    note: hit.kind === 'setting' ? shell.kinds.setting : shell.found(shell.kinds[hit.kind], hit.detail),
    href: hrefOf(hit),
  }));
};
