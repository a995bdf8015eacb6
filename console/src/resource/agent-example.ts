import { useBaseUrl, useGet } from '../api/index.ts';
import type { AgentSummaryPage } from '../api/types.gen.ts';
import { common } from '../text/en/common.ts';
import { curlOf } from '../ui/index.ts';

/**
 * The command of an empty list of what belongs to an agent: it works as it stands, with the id of an agent that there is.
 * Without any agent it is the one that makes the first. `of` returns path and body of the POST. Undefined until the agents
 * are known, and while `wanted` is false.
 */
export const useAgentExample = (
  wanted: boolean,
  of: (agentId: string) => readonly [path: string, body: object],
): string | undefined => {
  const base = useBaseUrl();
  const { data } = useGet<AgentSummaryPage>('/app/api/agents', {
    query: { mode: 'worker', limit: 1 },
    enabled: wanted,
    staleTime: 30_000,
  });
  if (!wanted || !data) return undefined;
  const [agent] = data.data;
  return agent
    ? curlOf(base, 'POST', ...of(agent.id))
    : curlOf(base, 'POST', '/agents', { name: common.exampleAgent, mode: 'worker' });
};
