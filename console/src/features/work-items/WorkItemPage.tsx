import { useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { useBaseUrl, useOperation } from '../../api/index.ts';
import { FilesTab, workItemOwner } from '../../files/index.ts';
import { ReviewNote, useDecisions } from '../../messages/index.ts';
import { DeleteButton, MakeCaseButton, PageTabs, workItemName } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { files } from '../../text/en/files.ts';
import { pages } from '../../text/en/pages.ts';
import { workItems as words } from '../../text/en/work-items.ts';
import {
  Columns,
  CopyButton,
  curlOf,
  Loaded,
  Page,
  Skeleton,
  useDisabledReason,
  useKeptFocus,
} from '../../ui/index.ts';
import { ActionButtons, actOn, useDecisionReason } from './actions.tsx';
import { Conversation } from './detail/Conversation.tsx';
import { EditDraft } from './detail/EditDraft.tsx';
import { Events } from './detail/Events.tsx';
import { WorkItemFacts } from './detail/Facts.tsx';
import { Lead } from './detail/Lead.tsx';
import { Neighbors } from './detail/Neighbors.tsx';
import { Timeline } from './detail/Timeline.tsx';
import { useLive } from './detail/use-live.ts';
import { Values } from './detail/Values.tsx';
import type { workItemSearch } from './search.ts';
import { trailOf } from './trail.ts';
import type { WorkItemDetail } from './types.ts';

const Traces = lazy(() => import('./detail/Traces.tsx').then(({ Traces }) => ({ default: Traces })));

const finished: readonly WorkItemDetail['status'][] = ['COMPLETED', 'ERROR', 'CANCELLED'];

const Content = ({ item, every }: { item: WorkItemDetail; every: number | undefined }) => {
  const reason = useDecisionReason(item);
  const deciding = useDecisions(
    item.pending_approvals,
    (decisions) => actOn(item, 'continue', { decisions }),
    reason,
  );
  const allowed = item.allowed_actions.includes('continue');
  const conversation = (above: ReactNode) => (
    <>
      {above}
      <Columns side={<WorkItemFacts item={item} />}>
        <Conversation item={item} deciding={allowed ? deciding : null} />
      </Columns>
    </>
  );
  const owner = workItemOwner(item.agent.id, item.id, item.status === 'DRAFT' ? null : files.onlyDraft);
  return (
    <PageTabs
      label={words.tabsOf}
      words={words.tabs}
      keeps={['conversation']}
      tabs={{
        conversation: () => conversation(null),
        timeline: () => conversation(<Timeline item={item} every={every} />),
        files: () => (
          <Suspense fallback={<Skeleton />}>
            <FilesTab owner={owner} />
          </Suspense>
        ),
        events: () => <Events id={item.id} every={every} />,
        payload: () => <Values item={item} />,
        traces: () => (
          <Suspense fallback={<Skeleton />}>
            <Traces item={item} />
          </Suspense>
        ),
      }}
    />
  );
};

const Shown = ({ item, every }: { item: WorkItemDetail; every: number | undefined }) => {
  const { search } = useUrlState<ReturnType<typeof workItemSearch>>();
  const tab = search.tab ?? 'conversation';
  useKeptFocus(item.status);
  const curl = curlOf(useBaseUrl(), 'getWorkItem', { work_item_id: item.id });
  const mayDelete = useDisabledReason('deleteWorkItem');
  const { agent } = item;
  const waits = item.pending_approvals.some(({ kind }) => kind !== 'question');
  const showsCalls = tab === 'conversation' || tab === 'timeline';
  return (
    <Page
      title={workItemName(item)}
      titlePrefix={item.status}
      crumbs={[
        { label: pages.workItems, href: trailOf(item.id).list },
        ...(agent.exists
          ? [{ label: agent.name ?? '', href: to('/agents/$agentId', { agentId: agent.id }) }]
          : []),
      ]}
      lead={
        <>
          <Lead item={item} />
          <ReviewNote id={item.review_id} />
        </>
      }
      actions={
        <>
          <Neighbors id={item.id} />
          <CopyButton value={curl} label={words.copyCurl} kind="quiet" />
          {finished.includes(item.status) && (
            <DeleteButton
              operation="deleteWorkItem"
              params={{ work_item_id: item.id }}
              title={words.deleteTitle}
              name={workItemName(item)}
              deleted={words.deleted}
              opens={to('/work-items')}
              disabledReason={mayDelete}
            >
              <p>{words.deleteMore}</p>
            </DeleteButton>
          )}
          {(item.status === 'COMPLETED' || item.status === 'ERROR') && (
            <MakeCaseButton source={{ work_item_id: item.id }} mode="worker" />
          )}
          {item.status === 'DRAFT' && <EditDraft id={item.id} />}
          <ActionButtons item={item} allowed={item.allowed_actions} primary={!(waits && showsCalls)} />
        </>
      }
    >
      <Content item={item} every={every} />
    </Page>
  );
};

export const WorkItemPage = () => {
  const { workItemId } = useParams({ from: '/shell/work-items/$workItemId' });
  const params = { work_item_id: workItemId };
  const got = useOperation('getWorkItemDetail', params);
  const every = useLive(workItemId, got.data);
  // The same data: it only makes them be read again while the stream does not work.
  useOperation('getWorkItemDetail', params, { every, enabled: every !== undefined });
  const list = { label: pages.workItems, href: to('/work-items') };
  const audit = to('/audit', {}, { target_id: workItemId });
  if (!got.data) {
    return (
      <Page title={pages.workItem} crumbs={[list]}>
        <Loaded
          got={got}
          operation="getWorkItem"
          list={list}
          audit={audit}
          skeleton={<Skeleton rows={10} height={44} />}
        >
          {() => null}
        </Loaded>
      </Page>
    );
  }
  return (
    <Loaded got={got} operation="getWorkItem" list={list} audit={audit}>
      {(item) => <Shown key={item.id} item={item} every={every} />}
    </Loaded>
  );
};
