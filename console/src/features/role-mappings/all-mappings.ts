import { type LoadState, listPolling, type Output, useOperation } from '../../api/index.ts';
import type { RoleMapping } from '../../api/types.gen.ts';

const limit = 100;

/**
 * All mappings, of which the API has at most 500: five pages. Which role follows, and whose would change, is only known
 * from the whole set.
 */
export const useAllMappings = (): LoadState<RoleMapping[]> => {
  const every = listPolling(false);
  const one = useOperation('listRoleMappings', {}, { query: { limit }, every });
  const after = (page: LoadState<Output<'listRoleMappings'>>) => ({
    query: { limit, next: page.data?.next },
    every,
    enabled: Boolean(page.data?.next),
  });
  const two = useOperation('listRoleMappings', {}, after(one));
  const three = useOperation('listRoleMappings', {}, after(two));
  const four = useOperation('listRoleMappings', {}, after(three));
  const five = useOperation('listRoleMappings', {}, after(four));
  const pages = [one, two, three, four, five];
  const wanted = pages.filter((_page, i) => i === 0 || Boolean(pages[i - 1]!.data?.next));
  const complete = wanted.every(({ data }) => data);
  return {
    ...one,
    data: complete ? wanted.flatMap(({ data }) => data!.data) : undefined,
    loading: wanted.some(({ loading }) => loading),
    error: wanted.find(({ error }) => error)?.error ?? null,
    refetch: () => {
      for (const { refetch } of wanted) refetch();
    },
  };
};
