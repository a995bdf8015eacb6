import { useBaseUrl } from '../api/index.ts';
import { common } from '../text/en/common.ts';
import { curlOf } from '../ui/index.ts';
import { useAgents } from './agents.ts';

/**
 * The command of an empty list of what belongs to an agent: it works as it stands, with the id of an agent that there is.
 * Without any agent it is the one that makes the first. Undefined until the agents are known, and while `wanted` is false.
 */
export const useAgentExample = (
  wanted: boolean,
  commandFor: (agent_id: string, baseUrl: string) => string,
): string | undefined => {
  const base = useBaseUrl();
  const { data } = useAgents({ mode: 'worker', enabled: wanted });
  if (!wanted || !data) return undefined;
  const [agent] = data.data;
  return agent
    ? commandFor(agent.id, base)
    : curlOf(base, 'createAgent', {}, { body: { name: common.exampleAgent, mode: 'worker' } });
};
