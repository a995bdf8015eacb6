import { type SearchOf, to } from '../../../routing/to.ts';

/** The address of a trigger's page. */
export const triggerHref = (
  agentId: string,
  triggerId: string,
  search?: SearchOf<'/agents/$agentId/triggers/$triggerId'>,
): string => to('/agents/$agentId/triggers/$triggerId', { agentId, triggerId }, search);
