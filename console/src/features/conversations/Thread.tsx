import { useEffect } from 'react';
import { type Body, perform } from '../../api/index.ts';
import type { ConversationDetail } from '../../api/types.gen.ts';
import { anchorOf, Messages, SendDecisions, useDecisions, useMessagePages } from '../../messages/index.ts';
import { conversations as words } from '../../text/en/conversations.ts';
import { Button, Problem, useDisabledReason, useHash, useHashTarget } from '../../ui/index.ts';
import { Composer } from './Composer.tsx';
import css from './conversations.module.css';
import type { Draft } from './drafts.ts';
import { useFollow, useKeptPlace } from './follow.ts';
import { toShown } from './messages.ts';
import type { ConversationParams } from './params.ts';
import { RunState } from './RunState.tsx';

/** A message, or decisions about calls that wait. */
export type Said = Body<'sendMessage'>;

export const Thread = ({
  params,
  conversation,
  drafts,
}: {
  params: ConversationParams;
  conversation: ConversationDetail;
  drafts: readonly Draft[];
}) => {
  const { agent, status, run } = conversation;
  /** Sends it. The reply comes by the stream. */
  const send = async (body: Said) => {
    await perform('sendMessage', params, { body: { ...body, wait_seconds: 0 } });
  };
  const { messages, hasMore, load } = useMessagePages(
    'listShownConversationMessages',
    params,
    conversation.messages,
  );
  const reason = useDisabledReason('sendMessage', agent.approval_role);
  const pending = status === 'needs_review' ? (run?.pending_approvals ?? []) : [];
  const deciding = useDecisions(pending, (decisions) => send({ decisions }), reason);
  const shown = toShown(params, agent.name, messages, drafts);
  const hash = useHash();
  const startsAtEnd = !hash.startsWith(anchorOf(''));
  const ids = shown.filter(({ role }) => role !== 'tool').map(({ id }) => id);
  const written = drafts.reduce((sum, { text }) => sum + text.length, 0);
  const growth = `${messages[0]?.id} ${written} ${status} ${run?.status}`;
  const { newCount, goToEnd } = useFollow(ids, growth, startsAtEnd);
  const keepPlace = useKeptPlace(messages.length);
  const earlier = () => keepPlace(() => void load.run());
  // The message that the address names may be on an older page.
  const missing = !startsAtEnd && hasMore && !shown.some(({ id }) => anchorOf(id) === hash);
  useEffect(() => {
    if (missing && !load.busy && !load.error) void load.run();
  });
  useHashTarget(messages.length);
  return (
    <div className={css.thread}>
      {shown.length > 0 && (
        <Messages
          label={words.messagesOf}
          messages={shown}
          pending={pending}
          deciding={deciding}
          running={status === 'running'}
          before={
            hasMore && (
              <>
                <Button small busy={load.busy} onClick={earlier}>
                  {words.earlier}
                </Button>
                {load.error && <Problem error={load.error} onRetry={earlier} />}
              </>
            )
          }
          after={deciding.waiting.length > 1 || deciding.error ? <SendDecisions deciding={deciding} /> : null}
        />
      )}
      <RunState params={params} conversation={conversation} writing={drafts.length > 0} send={send} />
      {newCount > 0 && (
        <div className={css.newer}>
          <Button
            onClick={() => {
              goToEnd();
              document.getElementById(anchorOf(ids.at(-1)!))?.focus({ preventScroll: true });
            }}
          >
            {words.newCount(newCount)}
          </Button>
        </div>
      )}
      <Composer
        params={params}
        conversation={conversation}
        calls={deciding.waiting.length}
        send={async (content) => {
          await send({ content });
          goToEnd();
        }}
      />
    </div>
  );
};
