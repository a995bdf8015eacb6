import { agentCalls } from '../agents/index.ts';
import type { Tx } from '../database/index.ts';
import type { Fault } from '../lib/errors.ts';
import { compileArgumentCheck } from '../lib/json-schema.ts';
import type { WorkItem } from '../work-items/index.ts';

/**
 * Returns the faults of a result by the `result_schema` of the agent, as the platform checks its own. `result` is
 * undefined if the worker sent none.
 */
export const resultFaults = async (
  tx: Tx,
  { agent_id: agentId, agent_version }: Pick<WorkItem, 'agent_id' | 'agent_version'>,
  result: unknown,
): Promise<Fault[]> => {
  const { result_schema } = await agentCalls.getPinned(tx, agentId, agent_version);
  if (result_schema === null) return [];
  if (result === undefined) {
    return [{ path: 'result', message: 'is required: the agent has a result_schema' }];
  }
  const message = compileArgumentCheck(result_schema, `the result of agent ${agentId}`)(result);
  return message === null ? [] : [{ path: 'result', message }];
};
