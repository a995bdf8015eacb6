import { useParams } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { addressOf, useBaseUrl, useOperation, usePermission } from '../../api/index.ts';
import { FilesTab, workItemOwner } from '../../files/index.ts';
import { useDecisions } from '../../messages/index.ts';
import { DeleteButton } from '../../resource/index.ts';
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
  permissionReason,
  Skeleton,
  Tabs,
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
import { Traces } from './detail/Traces.tsx';
import { useLive } from './detail/use-live.ts';
import { Values } from './detail/Values.tsx';
import { nameOf } from './StatusTag.tsx';
import { type workItemSearch, workItemTabs } from './search.ts';
import { trailOf } from './trail.ts';
import type { WorkItemDetail } from './types.ts';

type Tab = (typeof workItemTabs)[number];

const finished: readonly WorkItemDetail['status'][] = ['COMPLETED', 'ERROR', 'CANCELLED'];

const Content = ({
  item,
  tab,
  every,
}: {
  item: WorkItemDetail;
  tab: Tab;
  every: number | undefined;
}): ReactNode => {
  const reason = useDecisionReason(item);
  const deciding = useDecisions(
    item.pending_approvals,
    (decisions) => actOn(item, 'continue', { decisions }),
    reason,
  );
  const allowed = item.allowed_actions.includes('continue');
  switch (tab) {
    case 'files':
      return (
        <Suspense fallback={<Skeleton />}>
          <FilesTab
            owner={workItemOwner(item.agent.id, item.id, item.status === 'DRAFT' ? null : files.onlyDraft)}
          />
        </Suspense>
      );
    case 'events':
      return <Events id={item.id} every={every} />;
    case 'payload':
      return <Values item={item} />;
    case 'traces':
      return <Traces item={item} />;
    default:
      return (
        <>
          {tab === 'timeline' && <Timeline item={item} every={every} />}
          <Columns side={<WorkItemFacts item={item} />}>
            <Conversation item={item} deciding={allowed ? deciding : null} />
          </Columns>
        </>
      );
  }
};

const Shown = ({ item, every }: { item: WorkItemDetail; every: number | undefined }) => {
  const { search } = useUrlState<ReturnType<typeof workItemSearch>>();
  const tab = search.tab ?? 'conversation';
  useKeptFocus(item.status);
  const curl = curlOf(useBaseUrl(), 'GET', addressOf('getWorkItem', { work_item_id: item.id }));
  const mayDelete = permissionReason(usePermission('deleteWorkItem'));
  const { agent } = item;
  const waits = item.pending_approvals.some(({ kind }) => kind !== 'question');
  const showsCalls = tab === 'conversation' || tab === 'timeline';
  return (
    <Page
      title={nameOf(item)}
      titlePrefix={item.status}
      crumbs={[
        { label: pages.workItems, href: trailOf(item.id).list },
        ...(agent.exists
          ? [{ label: agent.name ?? '', href: to('/agents/$agentId', { agentId: agent.id }) }]
          : []),
      ]}
      lead={<Lead item={item} />}
      actions={
        <>
          <Neighbors id={item.id} />
          <CopyButton value={curl} label={words.copyCurl} kind="quiet" />
          {finished.includes(item.status) && (
            <DeleteButton
              operation="deleteWorkItem"
              params={{ work_item_id: item.id }}
              title={words.deleteTitle}
              name={nameOf(item)}
              deleted={words.deleted}
              opens={to('/work-items')}
              disabledReason={mayDelete}
            >
              <p>{words.deleteMore}</p>
            </DeleteButton>
          )}
          {item.status === 'DRAFT' && <EditDraft id={item.id} />}
          <ActionButtons item={item} allowed={item.allowed_actions} primary={!(waits && showsCalls)} />
        </>
      }
    >
      <Tabs
        label={words.tabsOf}
        value={tab}
        tabs={workItemTabs.map((value) => ({
          value,
          label: words.tabs[value],
          href: to(
            '/work-items/$workItemId',
            { workItemId: item.id },
            {
              ...(value === 'conversation' ? {} : { tab: value }),
              conversation: search.conversation,
            },
          ),
        }))}
      >
        <Content item={item} tab={tab} every={every} />
      </Tabs>
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
