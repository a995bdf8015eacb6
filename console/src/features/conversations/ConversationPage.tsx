import { useNavigate, useParams } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { perform, useAction, useOperation } from '../../api/index.ts';
import type { ConversationDetail } from '../../api/types.gen.ts';
import { conversationOwner, FilesTab } from '../../files/index.ts';
import { MakeCaseButton, PageTabs } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { conversations as words } from '../../text/en/conversations.ts';
import { files } from '../../text/en/files.ts';
import { pages } from '../../text/en/pages.ts';
import { Time } from '../../time/index.ts';
import {
  Button,
  CopyButton,
  Link,
  Loaded,
  Page,
  Problem,
  Skeleton,
  useDisabledReason,
  Words,
} from '../../ui/index.ts';
import { DeleteConversationDialog, RenameDialog } from './dialogs.tsx';
import type { Draft } from './drafts.ts';
import { useLive } from './live.ts';
import type { ConversationParams } from './params.ts';
import { Thread } from './Thread.tsx';

const hrefOf = ({ agent_id, conversation_id }: ConversationParams): string =>
  to('/agents/$agentId/conversations/$conversationId', {
    agentId: agent_id,
    conversationId: conversation_id,
  });

const Actions = ({
  params,
  conversation,
}: {
  params: ConversationParams;
  conversation: ConversationDetail;
}) => {
  const navigate = useNavigate();
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null);
  const close = () => setOpen(null);
  const mayDelete = useDisabledReason('deleteConversation');
  const mayRename = useDisabledReason('updateConversation');
  const mayCreate = useDisabledReason('createConversation');
  const create = useAction(async () => {
    const { body } = await perform('createConversation', { agent_id: params.agent_id }, { body: {} });
    await navigate({ href: hrefOf({ ...params, conversation_id: body.id }) });
  });
  const address = `${location.origin}${hrefOf(params)}`;
  return (
    <>
      <Button kind="quiet-danger" disabledReason={mayDelete} onClick={() => setOpen('delete')}>
        {common.delete}
      </Button>
      <Button kind="quiet" disabledReason={mayRename} onClick={() => setOpen('rename')}>
        {words.rename}
      </Button>
      <CopyButton value={address} label={common.copyLink} kind="quiet" />
      <Button busy={create.busy} disabledReason={mayCreate} onClick={() => void create.run()}>
        {words.newConversation}
      </Button>
      {conversation.run && ['completed', 'error'].includes(conversation.run.status) && (
        <MakeCaseButton
          key={conversation.run.id}
          source={{ run_id: conversation.run.id }}
          mode="conversational"
        />
      )}
      {create.error && <Problem error={create.error} />}
      {open === 'rename' && <RenameDialog params={params} conversation={conversation} onClose={close} />}
      {open === 'delete' && (
        <DeleteConversationDialog params={params} conversation={conversation} onClose={close} />
      )}
    </>
  );
};

const agentCrumbs = (agentId: string, name: string) => [
  { label: pages.agents, href: to('/agents') },
  { label: name, href: to('/agents/$agentId', { agentId }) },
  { label: words.list, href: to('/agents/$agentId', { agentId }, { tab: 'conversations' }) },
];

const Shown = ({
  params,
  conversation,
  drafts,
}: {
  params: ConversationParams;
  conversation: ConversationDetail;
  drafts: readonly Draft[];
}) => {
  const { name, agent, status, created_at, created_by_name, run } = conversation;
  return (
    <Page
      title={name || words.untitled}
      titlePrefix={words.states[status] || undefined}
      crumbs={agentCrumbs(params.agent_id, agent.name)}
      lead={
        <>
          <Words text={words.started} at={<Time at={created_at} />} by={created_by_name ?? words.someone} />{' '}
          {run?.model && words.model(run.model)}{' '}
          {run && run.agent_version !== null && (
            <Words
              text={words.version}
              version={
                <Link
                  href={to(
                    '/agents/$agentId',
                    { agentId: params.agent_id },
                    { tab: 'versions', from: String(run.agent_version) },
                  )}
                >
                  {words.versionOf(run.agent_version)}
                </Link>
              }
            />
          )}
        </>
      }
      actions={<Actions params={params} conversation={conversation} />}
    >
      <PageTabs
        label={files.tabsOf}
        words={{ conversation: files.conversationTab, files: files.tab }}
        tabs={{
          conversation: () => <Thread params={params} conversation={conversation} drafts={drafts} />,
          files: () => (
            <Suspense fallback={<Skeleton />}>
              <FilesTab owner={conversationOwner(params)} />
            </Suspense>
          ),
        }}
      />
    </Page>
  );
};

const One = ({ params }: { params: ConversationParams }) => {
  const got = useOperation('getConversationDetail', params);
  const { drafts, every } = useLive(params, got.data);
  // The same data: it only makes them be read again from time to time.
  useOperation('getConversationDetail', params, { every, enabled: every !== undefined });
  const list = {
    label: words.list,
    href: to('/agents/$agentId', { agentId: params.agent_id }, { tab: 'conversations' }),
  };
  const loaded = (
    <Loaded
      got={got}
      operation="getConversation"
      list={list}
      audit={to('/audit', {}, { target_id: params.conversation_id })}
      skeleton={<Skeleton rows={8} height={56} />}
    >
      {(conversation) => <Shown params={params} conversation={conversation} drafts={drafts} />}
    </Loaded>
  );
  const gone = got.error?.status === 404 || got.error?.status === 403;
  if (got.data && !gone) return loaded;
  return (
    <Page title={pages.conversation} crumbs={[{ label: pages.agents, href: to('/agents') }]}>
      {loaded}
    </Page>
  );
};

export const ConversationPage = () => {
  const { agentId, conversationId } = useParams({
    from: '/shell/agents/$agentId/conversations/$conversationId',
  });
  // Another conversation begins with nothing of this one: no text that is being written, no decision.
  return <One key={conversationId} params={{ agent_id: agentId, conversation_id: conversationId }} />;
};
