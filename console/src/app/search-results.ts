import { useMe } from '../api/me.ts';
import { useOperation } from '../api/query.ts';
import type { SearchHit } from '../api/types.gen.ts';
import { useSettled } from '../resource/settled.ts';
import { hrefOfThing } from '../resource/thing.ts';
import { to } from '../routing/to.ts';
import { shell } from '../text/en/shell.ts';

/** The address of a result. A thing without a page of its own is found in its list. */
const hrefOf = ({ kind, id, detail, agent_id }: SearchHit): string => {
  if (kind === 'api_key') return to('/api-keys', {}, { q: detail });
  return hrefOfThing(kind, id, agent_id) ?? to('/settings', {}, { q: id });
};

/** Returns the platform's search results, if it has a search. */
export const useSearchResults = (query: string): { label: string; note: string; href: string }[] => {
  const settled = useSettled(query, 150);
  const enabled = useMe().operations.includes('search') && settled.length > 0;
  const { data } = useOperation('search', {}, { query: { q: settled }, enabled, keepPrevious: true });
  if (!enabled || query === '') return [];
  return (data?.data ?? []).map((hit) => ({
    label: hit.title || hit.id,
    note: hit.kind === 'setting' ? shell.kinds.setting : shell.found(shell.kinds[hit.kind], hit.detail),
    href: hrefOf(hit),
  }));
};
