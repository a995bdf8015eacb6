import { path, useInvalidate } from '../../../api/index.ts';

/** The paths of one schedule in the API. */
export const pathsOf = (agentId: string, scheduleId: string) => ({
  detail: path`/app/api/schedules/${scheduleId}`,
  /** What the application does with it: pause, run, explain. */
  app: path`/app/api/agents/${agentId}/schedules/${scheduleId}`,
  public: path`/api/v2/agents/${agentId}/schedules/${scheduleId}`,
});

/** What shows a schedule of the agent. */
export const pathsShowing = (agentId: string): string[] => [
  '/app/api/schedules',
  path`/app/api/agents/${agentId}`,
  path`/api/v2/agents/${agentId}`,
  '/app/api/overview',
  '/app/api/work-items',
];

/** Returns a function that gets again whatever shows the schedule, after a change of it. */
export const useScheduleChanged = () => {
  const invalidate = useInvalidate();
  return (agentId: string) => invalidate(...pathsShowing(agentId));
};
