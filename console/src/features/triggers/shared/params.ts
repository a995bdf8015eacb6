import type { PublicTrigger } from '../../../api/types.gen.ts';

export const paramsOf = ({ id, agent_id }: Pick<PublicTrigger, 'id' | 'agent_id'>) => ({
  agent_id,
  trigger_id: id,
});
