import { workItemName } from '../../resource/index.ts';
import { review as words } from '../../text/en/review.ts';
import { duration } from '../../text/index.ts';
import { useClock } from '../../time/index.ts';
import { cx, Link } from '../../ui/index.ts';
import { questionOf } from '../work-items/question.ts';
import type { ListedWorkItem } from '../work-items/types.ts';
import css from './review.module.css';

/** The time that it waits, in minutes if it is more than one. */
const Age = ({ since }: { since: string }) =>
  useClock((now) => {
    const waited = Math.max(0, now - Date.parse(since));
    const unit = waited < 60_000 ? 1_000 : 60_000;
    return duration(Math.floor(waited / unit) * unit);
  });

export const Inbox = ({
  rows,
  shownId,
  hrefOf,
}: {
  rows: readonly ListedWorkItem[];
  shownId: string | undefined;
  hrefOf: (id: string) => string;
}) => (
  <nav aria-label={words.waiting}>
    <ul>
      {rows.map((row) => (
        <li key={row.id}>
          <Link
            href={hrefOf(row.id)}
            keepScroll
            className={cx(css.pick, row.id === shownId && css.on)}
            aria-current={row.id === shownId || undefined}
          >
            <span className={css.line}>
              <b>{workItemName(row)}</b>
              <span className={css.age}>
                <Age since={row.waiting?.since ?? row.updated_at} />
              </span>
            </span>
            <span className={css.question}>{questionOf(row.waiting?.question)}</span>
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);
