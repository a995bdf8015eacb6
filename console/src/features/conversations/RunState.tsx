import { addressOf, send as fetchFrom, useAction } from '../../api/index.ts';
import type { ConversationDetail } from '../../api/types.gen.ts';
import { decidable, ReviewNote } from '../../messages/index.ts';
import { common } from '../../text/en/common.ts';
import { conversations as words } from '../../text/en/conversations.ts';
import { Bar, Button, Callout, Muted, Problem } from '../../ui/index.ts';
import css from './conversations.module.css';
import type { ConversationParams } from './params.ts';

type Run = NonNullable<ConversationDetail['run']>;

/** A failed run, and the button that sends the same again. */
const Failed = ({
  params,
  run,
  agentName,
  send,
}: {
  params: ConversationParams;
  run: Run;
  agentName: string;
  send: (body: object) => Promise<void>;
}) => {
  const again = useAction(async () => {
    const address = addressOf('downloadConversationMessage', { ...params, message_id: run.message_id });
    const response = await fetchFrom('GET', address, { headers: { accept: '*/*' } });
    const text = await response.text();
    const isText = response.headers.get('content-type')?.startsWith('text/plain');
    await send({ content: isText ? text : JSON.parse(text) });
  });
  const { code = '', message } = run.error ?? {};
  const hint = words.failedHint[code];
  return (
    <Callout tone="bad" title={words.failed(agentName)}>
      <p>
        {message} {hint} <code>{code}</code>
      </p>
      {again.error && <Problem error={again.error} />}
      {code !== 'context_too_long' && (
        <Bar>
          <Button small busy={again.busy} onClick={() => void again.run()}>
            {common.tryAgain}
          </Button>
        </Bar>
      )}
    </Callout>
  );
};

/** Text for screen readers when the state changes. */
const spoken = ({ status, run, agent }: ConversationDetail, writing: boolean): string => {
  if (status === 'running') {
    return run?.status === 'queued' && !writing ? words.queued(agent.name) : words.replying(agent.name);
  }
  const waiting = decidable(run?.pending_approvals ?? []).length;
  if (status === 'needs_review') {
    return waiting === 0 ? '' : waiting === 1 ? words.waits : words.waitsMany(waiting);
  }
  if (run?.status === 'cancelled') return words.cancelled;
  return run?.status === 'completed' ? words.replied(agent.name) : '';
};

export const RunState = ({
  params,
  conversation,
  writing,
  send,
}: {
  params: ConversationParams;
  conversation: ConversationDetail;
  writing: boolean;
  send: (body: object) => Promise<void>;
}) => {
  const { run, status, agent } = conversation;
  const questions =
    status === 'needs_review' ? (run?.pending_approvals ?? []).filter(({ kind }) => kind === 'question') : [];
  const quiet = status === 'idle' && run?.status === 'completed';
  return (
    <div className={css.state}>
      <p role="status" className={quiet ? css.spoken : undefined}>
        <Muted>{spoken(conversation, writing)}</Muted>
      </p>
      {questions.map(({ approval_id, reason }) => (
        <Callout key={approval_id} tone="look" title={words.asks(agent.name)}>
          <p>{reason}</p>
        </Callout>
      ))}
      {status === 'needs_review' && <ReviewNote id={run?.review_id ?? null} />}
      {status === 'idle' && run?.status === 'error' && (
        <div role="alert">
          <Failed key={run.id} params={params} run={run} agentName={agent.name} send={send} />
        </div>
      )}
    </div>
  );
};
