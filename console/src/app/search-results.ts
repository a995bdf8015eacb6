import { useEffect, useState } from 'react';
import { useMe } from '../api/me.ts';
import { useGet } from '../api/query.ts';
import { to } from './addresses.ts';

/** A thing that the search of the platform found. */
interface Found {
  kind: string;
  id: string;
  name: string;
  agent_id?: string | null;
}

const hrefOf = ({ kind, id, agent_id }: Found): string | null => {
  switch (kind) {
    case 'agent':
      return to.agent(id);
    case 'schedule':
      return agent_id ? to.schedule(agent_id, id) : to.scheduleById(id);
    case 'work_item':
      return to.workItem(id);
    case 'integration':
      return to.integration(id);
    case 'api_key':
      return to.apiKeys({ q: id });
    case 'setting':
      return to.settings({ q: id });
    default:
      return null;
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
  const { data } = useGet<{ data: Found[] }>('/app/api/search', {
    query: { q: settled },
    enabled,
    keepPrevious: true,
  });
  if (!enabled || query === '') return [];
  return (data?.data ?? []).flatMap((found) => {
    const href = hrefOf(found);
    return href ? [{ label: found.name || found.id, note: found.kind.replaceAll('_', ' '), href }] : [];
  });
};
