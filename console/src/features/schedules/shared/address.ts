import { type SearchOf, to } from '../../../routing/to.ts';

/** The address of a schedule's page. */
export const scheduleHref = (
  agentId: string,
  scheduleId: string,
  search?: SearchOf<'/agents/$agentId/schedules/$scheduleId'>,
): string => to('/agents/$agentId/schedules/$scheduleId', { agentId, scheduleId }, search);
