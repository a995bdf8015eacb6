import { to } from '../routing/to.ts';
import { occurrences as words } from '../text/en/occurrences.ts';
import { Link, shortId } from '../ui/index.ts';
import css from './WorkItemOutcome.module.css';

export interface EmbeddedWorkItem {
  id: string;
  status: keyof typeof words.workItem;
  duration_ms: number | null;
  attempts?: number;
  error?: { code: string; message: string } | null;
}

/** Describes a Work Item's outcome: "completed in 4 min 12 s", "failed after 3 attempts". */
export const workItemWords = ({ status, duration_ms, attempts = 1 }: EmbeddedWorkItem): string => {
  if (status === 'COMPLETED' && duration_ms !== null) return words.completedIn(duration_ms);
  if (status === 'ERROR' && attempts > 1) return words.failedAfter(attempts);
  return words.workItem[status];
};

/** A Work Item in a cell: its short id as the link, and what became of it below. */
export const WorkItemOutcome = ({ item }: { item: EmbeddedWorkItem }) => (
  <>
    {/* The name contains what is shown: people say what they see. */}
    <Link
      href={to('/work-items/$workItemId', { workItemId: item.id })}
      className={css.item}
      title={item.id}
      aria-label={words.workItemOf(shortId(item.id))}
    >
      {shortId(item.id)}
    </Link>
    <span className={css.below} title={item.error?.message}>
      {workItemWords(item)}
    </span>
  </>
);
