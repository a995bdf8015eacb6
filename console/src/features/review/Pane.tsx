import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { discardUnsaved, useOperation, useUnsaved } from '../../api/index.ts';
import { decidable, Messages, ReviewNote, useDecisions } from '../../messages/index.ts';
import { StatusTag, workItemName } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { review as words } from '../../text/en/review.ts';
import { workItems } from '../../text/en/work-items.ts';
import { Button, Callout, Link, Loaded, Skeleton, Words } from '../../ui/index.ts';
import { actOn, useDecisionReason } from '../work-items/actions.tsx';
import { toShown } from '../work-items/detail/messages.ts';
import { useLive } from '../work-items/detail/use-live.ts';
import { questionOf } from '../work-items/question.ts';
import type { WorkItemDetail } from '../work-items/types.ts';
import { Decide } from './Decide.tsx';
import css from './review.module.css';

const shownAtFirst = 4;

const needsOf = ({ pending_approvals, status }: WorkItemDetail): string => {
  const tools = pending_approvals.flatMap(({ kind, tool_name }) =>
    kind === 'tool_call' && tool_name ? [tool_name] : [],
  );
  if (tools.length > 0) return words.needs([...new Set(tools)]);
  return status === 'INDETERMINATE' || pending_approvals.some(({ kind }) => kind === 'unknown_outcome')
    ? words.unknown
    : '';
};

const Head = ({ item, focus }: { item: WorkItemDetail; focus: boolean }) => {
  const heading = useRef<HTMLHeadingElement>(null);
  const take = useEffectEvent(() => focus && heading.current?.focus({ preventScroll: true }));
  useEffect(() => void take(), []);
  const question = questionOf(item.review_reason ?? item.waiting?.question);
  return (
    <header className={css.head}>
      <div>
        <h2 ref={heading} tabIndex={-1}>
          {question}
        </h2>
        <p className={css.meta} title={workItemName(item)}>
          <Words
            text={words.meta}
            name={workItemName(item)}
            agent={
              item.agent.exists ? (
                <Link href={to('/agents/$agentId', { agentId: item.agent.id })}>{item.agent.name}</Link>
              ) : (
                workItems.deletedAgent
              )
            }
            needs={needsOf(item)}
          />
        </p>
      </div>
      <Link href={to('/work-items/$workItemId', { workItemId: item.id })} className={css.openItem}>
        {words.open}
      </Link>
    </header>
  );
};

const Shown = ({ item, focus, onDone }: { item: WorkItemDetail; focus: boolean; onDone: () => void }) => {
  const [all, setAll] = useState(false);
  const [message, setMessage] = useState('');
  useUnsaved(() => message.trim() !== '');
  const done = () => {
    discardUnsaved();
    onDone();
  };
  const reason = useDecisionReason(item);
  const text = message.trim();
  const deciding = useDecisions(
    item.pending_approvals,
    async (decisions) => {
      // A reason reaches the agent with the denial; a message would tell it twice.
      const told = decisions.some((decision) => decision.reason === text);
      await actOn(item, 'continue', { decisions, ...(text === '' || told ? {} : { message: text }) });
      done();
    },
    reason,
  );
  const current = item.conversations.at(-1)!;
  const ofCurrent = item.messages.data.filter(({ conversation_id }) => conversation_id === current.id);
  const messages = toShown(item, ofCurrent, ofCurrent.length >= current.messages);
  const folded = messages.length > shownAtFirst + 1 && !all;
  const waits = item.allowed_actions.includes('continue') && item.status !== 'ERROR';
  const several = decidable(item.pending_approvals).length > 1;
  return (
    <>
      <Head item={item} focus={focus} />
      <div className={css.talk}>
        <ReviewNote id={item.review_id} />
        <Messages
          label={workItems.messagesOf}
          messages={folded ? messages.slice(-shownAtFirst) : messages}
          pending={item.pending_approvals}
          deciding={waits ? deciding : null}
          quiet={!several}
          before={
            folded && (
              <Button small onClick={() => setAll(true)}>
                {words.earlier(messages.length - shownAtFirst)}
              </Button>
            )
          }
        />
      </div>
      {waits ? (
        <Decide item={item} deciding={deciding} message={message} onMessage={setMessage} onDone={done} />
      ) : (
        <div className={css.decide}>
          <Callout title={<StatusTag status={item.status} />}>
            {words.noLonger(workItems.status[item.status].toLowerCase())}
          </Callout>
        </div>
      )}
    </>
  );
};

export const Pane = ({ id, asked, onDone }: { id: string; asked: boolean; onDone: () => void }) => {
  const got = useOperation('getWorkItemDetail', { work_item_id: id });
  const every = useLive(id, got.data);
  // The same data: it only makes them be read again while the stream does not work.
  useOperation('getWorkItemDetail', { work_item_id: id }, { every, enabled: every !== undefined });
  return (
    <section className={css.pane} aria-label={words.decision}>
      <Link href={to('/review')} className={css.back}>
        {words.back}
      </Link>
      <Loaded
        got={got}
        operation="getWorkItem"
        list={{ label: pages.review, href: to('/review') }}
        audit={to('/audit', {}, { target_id: id })}
        skeleton={<Skeleton rows={8} height={44} />}
      >
        {(item) => <Shown item={item} focus={asked} onDone={onDone} />}
      </Loaded>
    </section>
  );
};
