import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import { listPolling, useBaseUrl, useOperation, useReportReviewCount } from '../../api/index.ts';
import { useAgentOptions } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { review as words } from '../../text/en/review.ts';
import { useClock } from '../../time/index.ts';
import {
  Box,
  ButtonLink,
  curlOf,
  EmptyState,
  FilterChoice,
  FilterSelect,
  Loaded,
  NothingMatches,
  Page,
  Pager,
  Skeleton,
  useKeys,
} from '../../ui/index.ts';
import { countCap } from '../work-items/list/filters.ts';
import type { ListedWorkItem, ListedWorkItemPage } from '../work-items/types.ts';
import { Inbox } from './Inbox.tsx';
import { Pane } from './Pane.tsx';
import css from './review.module.css';
import { reviewOrders, reviewQuery, type reviewSearch, waitingStatuses as statuses } from './search.ts';

type Search = ReturnType<typeof reviewSearch>;

const Lead = ({ page, rows }: { page: ListedWorkItemPage | undefined; rows: readonly ListedWorkItem[] }) => {
  const oldest = Math.min(...rows.map(({ waiting, updated_at }) => Date.parse(waiting?.since ?? updated_at)));
  const waited = useClock((now) => (rows.length === 0 ? 0 : Math.floor((now - oldest) / 60_000) * 60_000));
  if (!page) return null;
  const count = page.counts ? statuses.reduce((sum, status) => sum + page.counts![status], 0) : rows.length;
  if (count === 0) return words.leadNone;
  return words.lead(count, count >= countCap, Math.max(waited, 1_000));
};

const Filters = ({ rows }: { rows: readonly ListedWorkItem[] }) => {
  const { search, set } = useUrlState<Search>();
  const names = new Map(rows.flatMap(({ agent }) => (agent.name ? [[agent.id, agent.name] as const] : [])));
  const chosen = search.agent_id ?? [];
  const agents = useAgentOptions(chosen, { known: names });
  return (
    <>
      <FilterChoice
        label={words.agent}
        value={chosen}
        {...agents}
        multiple
        onChange={(agent_id) => set({ agent_id: agent_id.length === 0 ? undefined : agent_id })}
      />
      <FilterSelect
        label={words.order}
        value={search.sort ?? 'waiting'}
        onChange={(sort) => set({ sort: sort === 'created' ? sort : undefined })}
        options={reviewOrders.map((value) => ({ value, label: words.orders[value] }))}
      />
      <ButtonLink
        kind="quiet"
        href={to('/work-items', {}, { status: statuses, agent_id: search.agent_id, sort: 'waiting' })}
      >
        {words.several}
      </ButtonLink>
    </>
  );
};

/** The inbox, and next to it the one to decide about. */
export const ReviewPage = () => {
  const { workItemId } = useParams({ strict: false });
  const { search, clear } = useUrlState<Search>();
  const navigate = useNavigate();
  const baseUrl = useBaseUrl();
  const got = useOperation(
    'searchWorkItems',
    {},
    {
      query: reviewQuery(search),
      every: listPolling(false),
      keepPrevious: true,
    },
  );
  const pager = useCursor(got.data?.next);
  const rows = got.data?.data ?? [];
  const shownId = workItemId ?? rows[0]?.id;
  const at = rows.findIndex(({ id }) => id === shownId);
  const hrefOf = (id: string) =>
    to(
      '/review/$workItemId',
      { workItemId: id },
      { agent_id: search.agent_id, sort: search.sort, next: search.next },
    );
  const go = (step: number) => () => {
    const other = rows[at + step];
    if (other) void navigate({ href: hrefOf(other.id), resetScroll: false });
  };
  useKeys({ j: go(1), k: go(-1) });
  const report = useReportReviewCount();
  const reportCount = useEffectEvent(() => {
    const counts = got.data?.counts;
    if (counts && !search.agent_id) report(Math.min(counts.NEEDS_REVIEW + counts.INDETERMINATE, 1_000));
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each list that is shown.
  useEffect(() => reportCount(), [got.updatedAt]);
  /** The next one opens, and its heading gets the focus. */
  const onDone = () => {
    const next = rows[at + 1] ?? rows[at - 1];
    void navigate({ href: next ? hrefOf(next.id) : to('/review') });
  };
  return (
    <Page title={pages.review} lead={<Lead page={got.data} rows={rows} />} actions={<Filters rows={rows} />}>
      <Loaded got={got} operation="listWorkItems" skeleton={<Skeleton rows={8} height={60} />}>
        {() =>
          rows.length === 0 && workItemId === undefined ? (
            <Box>
              {search.agent_id ? (
                <NothingMatches what={words.what} filters={1} onClear={() => clear(['agent_id'])} />
              ) : (
                <EmptyState
                  sentence={words.empty}
                  action={<ButtonLink href={to('/work-items')}>{words.all}</ButtonLink>}
                  curl={curlOf(baseUrl, 'listWorkItems', {}, { query: { needs_decision: 'true' } })}
                />
              )}
            </Box>
          ) : (
            <div className={css.split} data-open={workItemId !== undefined || undefined}>
              <div className={css.inbox}>
                <Inbox rows={rows} shownId={shownId} hrefOf={hrefOf} />
                <Pager {...pager} />
              </div>
              {shownId !== undefined && (
                <Pane key={shownId} id={shownId} asked={workItemId !== undefined} onDone={onDone} />
              )}
            </div>
          )
        }
      </Loaded>
    </Page>
  );
};
