import { perform, useAction } from '../../../api/index.ts';
import { to } from '../../../routing/to.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { notify } from '../../../ui/index.ts';

interface Scheduled {
  id: string;
  agent: { id: string };
}

export const paramsOf = ({ id, agent }: Scheduled) => ({ agent_id: agent.id, schedule_id: id });

/**
 * Actions without a question: `run` makes a Work Item, `resume` goes on with the next occurrence. `said` has the
 * notices.
 */
export const useScheduleActions = <S extends Scheduled>(
  said: Record<'run' | 'resume', (schedule: S) => string>,
) => ({
  run: useAction(async (schedule: S) => {
    const { body } = await perform('runSchedule', paramsOf(schedule));
    notify(said.run(schedule), {
      label: words.openWorkItem,
      href: to('/work-items/$workItemId', { workItemId: body.id }),
    });
  }),
  resume: useAction(async (schedule: S) => {
    await perform('resumeSchedule', paramsOf(schedule), { ifMatch: null });
    notify(said.resume(schedule));
  }),
});
