import { addressOf, send as fetchFrom, useAction } from '../../api/index.ts';
import type { ConversationDetail } from '../../api/types.gen.ts';
import { decidable } from '../../messages/index.ts';
import { common } from '../../text/en/common.ts';
import { conversations as words } from '../../text/en/conversations.ts';
import { Bar, Button, Callout, Muted, Problem } from '../../ui/index.ts';
import css from './conversations.module.css';
import type { Of } from './of.ts';

type Run = NonNullable<ConversationDetail['run']>;

/** A run that failed, in words, and a way to say the same again. */
const Failed = ({
  of,
  run,
  agentName,
  send,
}: {
  of: Of;
  run: Run;
  agentName: string;
  send: (body: object) => Promise<void>;
}) => {
  const again = useAction(async () => {
    const address = addressOf('downloadConversationMessage', { ...of, message_id: run.message_id });
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

/** What screen readers are told when the state changes. */
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

/** How the last run is doing, below the messages. */
export const RunState = ({
  of,
  conversation,
  writing,
  send,
}: {
  of: Of;
  conversation: ConversationDetail;
  /** Text of its reply has come. */
  writing: boolean;
  send: (body: object) => Promise<void>;
}) => {
  const { run, status, agent } = conversation;
  const questions =
    status === 'needs_review' ? (run?.pending_approvals ?? []).filter(({ kind }) => kind === 'question') : [];
  const quiet = status === 'idle' && run?.status === 'completed';
  return (
    <div className={css.state}>
      {/* That the reply is complete can be seen. */}
      <p role="status" className={quiet ? css.spoken : undefined}>
        <Muted>{spoken(conversation, writing)}</Muted>
      </p>
      {questions.map(({ approval_id, reason }) => (
        <Callout key={approval_id} tone="look" title={words.asks(agent.name)}>
          <p>{reason}</p>
        </Callout>
      ))}
      {status === 'idle' && run?.status === 'error' && (
        <div role="alert">
          <Failed key={run.id} of={of} run={run} agentName={agent.name} send={send} />
        </div>
      )}
    </div>
  );
};
