import { useRef } from 'react';
import { statusKinds } from '../../../resource/index.ts';
import { useUrlState } from '../../../routing/url-state.ts';
import { workItemList as words } from '../../../text/en/work-item-list.ts';
import { workItems } from '../../../text/en/work-items.ts';
import { cx, Link, Mark, useChosenInView } from '../../../ui/index.ts';
import { type ListedWorkItemPage, type Status, statuses } from '../types.ts';
import { countCap, type Search, totalOf } from './filters.ts';
import css from './list.module.css';

/** The number of each status, as links. Those with none are quieter. */
export const StatusChips = ({ counts }: { counts: ListedWorkItemPage['counts'] }) => {
  const { search, href } = useUrlState<Search>();
  const chosen = (search.status ?? []) as Status[];
  const row = useRef<HTMLElement>(null);
  // Their counts make them wider.
  useChosenInView(row, `${chosen.join()} ${counts !== undefined && counts !== null}`);
  const { total, more } = counts ? totalOf(counts) : { total: null, more: false };
  const chip = (status: Status | null, label: string, count: number | null, capped: boolean) => {
    const on = status === null ? chosen.length === 0 : chosen.includes(status);
    return (
      <Link
        key={status ?? 'all'}
        href={href({ status: status === null ? undefined : [status] })}
        keepScroll
        aria-current={on || undefined}
        className={cx(css.chip, on && css.on, count === 0 && css.zero)}
      >
        {status !== null && <Mark kind={statusKinds[status]} />}
        {label}
        <span className={css.count}>
          {count === null ? '' : words.count(count, capped ? count : Number.POSITIVE_INFINITY)}
        </span>
      </Link>
    );
  };
  return (
    <nav ref={row} className={css.chips} aria-label={words.byStatus}>
      {chip(null, words.all, total, more)}
      {statuses.map((status) => {
        const count = counts?.[status] ?? null;
        return chip(status, workItems.status[status], count, count !== null && count >= countCap);
      })}
    </nav>
  );
};
