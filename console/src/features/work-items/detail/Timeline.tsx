import { useOperation } from '../../../api/index.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import { useClock } from '../../../time/index.ts';
import { Box, Loaded, Muted, Skeleton, Waterfall } from '../../../ui/index.ts';
import type { Step, WorkItemDetail } from '../types.ts';
import css from './detail.module.css';
import { toDrawn } from './steps.ts';

/** The steps; each second again while one of them runs. */
const Steps = ({ item, steps }: { item: WorkItemDetail; steps: readonly Step[] }) => {
  const runs = steps.some(({ ended_at }) => ended_at === null);
  const second = useClock((now) => (runs ? Math.floor(now / 1_000) : 0));
  return (
    <Waterfall label={words.timeline} steps={toDrawn(item.id, steps, runs ? second * 1_000 : undefined)} />
  );
};

/** Notes of the steps, once each. */
const Notes = ({ steps }: { steps: readonly Step[] }) => {
  const notes = [...new Set(steps.flatMap(({ notes }) => notes))];
  return notes.map((note) => <p key={note}>{note}</p>);
};

/** Attempts, model calls, tools and waits on one axis. */
export const Timeline = ({ item, every }: { item: WorkItemDetail; every: number | undefined }) => {
  const got = useOperation('listWorkItemSteps', { work_item_id: item.id }, { every });
  return (
    <div className={css.timeline}>
      <Loaded got={got} operation="listWorkItemSteps" skeleton={<Skeleton rows={6} height={28} />}>
        {({ data }) => (
          <Box padded>
            {data.length === 0 ? <Muted>{words.noSteps}</Muted> : <Steps item={item} steps={data} />}
            <Notes steps={data} />
          </Box>
        )}
      </Loaded>
    </div>
  );
};
