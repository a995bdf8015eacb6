import { useRef } from 'react';
import { path, request, useAction, useIdempotencyKey, useInvalidate } from '../../../api/index.ts';
import type { ListedSchedule, PublicWorkItem } from '../../../api/types.gen.ts';
import { to } from '../../../app/addresses.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { notify } from '../../../ui/index.ts';
import { nameOf } from '../shared/name.ts';

/** Returns a function that gets again whatever shows schedules, after a change. */
export const useSchedulesChanged = () => {
  const invalidate = useInvalidate();
  return () =>
    invalidate(
      '/app/api/schedules',
      '/app/api/agents',
      '/api/v2/agents',
      '/app/api/overview',
      '/app/api/work-items',
    );
};

const pathOf = ({ agent, id }: ListedSchedule) => path`/app/api/agents/${agent.id}/schedules/${id}`;

/** What is done to one schedule at once, without a question: run it, resume it. */
export const useRowActions = () => {
  const changed = useSchedulesChanged();
  const keyOf = useIdempotencyKey();
  const runs = useRef(0);
  const run = useAction(async (schedule: ListedSchedule) => {
    const { body } = await request<PublicWorkItem>('POST', `${pathOf(schedule)}/run`, {
      idempotencyKey: keyOf([schedule.id, runs.current]),
    });
    runs.current += 1;
    notify(words.started(nameOf(schedule)), { label: words.openWorkItem, href: to.workItem(body.id) });
    await changed();
  });
  const resume = useAction(async (schedule: ListedSchedule) => {
    await request('POST', `${pathOf(schedule)}/resume`);
    notify(words.done.resume(1));
    await changed();
  });
  return { run, resume };
};
