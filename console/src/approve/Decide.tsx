import { useState } from 'react';
import type { ApiProblem } from '../api/request.ts';
import type { DecideReviewBody, Review } from '../api/types.gen.ts';
import { answerFaults } from '../messages/input.ts';
import { asksInput } from '../messages/values.ts';
import { approve as words } from '../text/en/approve.ts';
import { common } from '../text/en/common.ts';
import { input } from '../text/en/input.ts';
import { messages } from '../text/en/messages.ts';
import { Call } from './Call.tsx';
import { type Asked, bodyOf, type CallDraft, callsOf, type Draft, decisionOf, nameOf } from './draft.ts';
import { Input, localFaults } from './Input.tsx';
import { Button, Field, Problem, TextArea } from './parts.tsx';
import type { Decide as Send, Viewer } from './review.ts';

const ranks = { member: 0, builder: 1, admin: 2 };

const whyNot = ({ required_role }: Review, { principal: { role } }: Viewer): string => {
  if (ranks[role] < ranks[required_role]) return words.roleNeeded(required_role, role);
  return words.barred;
};

/** What waits, and what decides it: with one call two buttons, with several a choice for each and one button. */
export const Decide = ({
  review,
  viewer,
  draft,
  onDraft,
  decide,
}: {
  review: Review;
  viewer: Viewer;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  decide: Send;
}) => {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<{ error: ApiProblem; body: DecideReviewBody } | null>(null);
  const [tried, setTried] = useState(false);
  const calls = callsOf(review);
  const several = calls.length > 1;
  const { may_decide: mayDecide } = review;
  const draftOf = ({ approval_id }: Asked): CallDraft => draft.calls[approval_id] ?? {};

  const send = async (body: DecideReviewBody) => {
    setBusy(true);
    setFailed(null);
    try {
      const error = await decide(body);
      setFailed(error && { error, body });
    } finally {
      setBusy(false);
    }
  };
  const one = (decision: 'approve' | 'deny') => () => {
    const made = decisionOf(calls[0]!, draftOf(calls[0]!), decision);
    setTried(true);
    if (made) void send({ decisions: [made] });
    else document.querySelector<HTMLElement>('[aria-invalid], .fault')?.scrollIntoView({ block: 'center' });
  };
  const all = bodyOf(calls, draft);
  const left = calls.filter((call) => !draftOf(call).chosen).length;
  const single = calls.length === 1 ? calls[0]! : null;
  const reply = draft.reply.trim();
  const faultsOf = (call: Asked) => ({
    ...(tried ? localFaults(call, draftOf(call)) : {}),
    ...(failed && single ? answerFaults(failed.error.details) : {}),
  });
  const mayBeDone = failed && (failed.error.status === 0 || failed.error.status >= 500);

  return (
    <>
      {!mayDecide && <p className="say look">{whyNot(review, viewer)}</p>}
      {calls.map((call, at) => {
        const props = {
          call,
          name: nameOf(call, at, calls.length),
          draft: draftOf(call),
          onDraft: (change: CallDraft) =>
            onDraft({
              ...draft,
              calls: { ...draft.calls, [call.approval_id]: { ...draftOf(call), ...change } },
            }),
          mayDecide,
          several,
        };
        return asksInput(call) ? (
          <Input key={call.approval_id} {...props} faults={faultsOf(call)} />
        ) : (
          <Call key={call.approval_id} {...props} />
        );
      })}
      {mayDecide && calls.length === 0 && (
        <Field label={words.reply}>
          {(control) => (
            <TextArea
              {...control}
              value={draft.reply}
              onChange={(text) => onDraft({ ...draft, reply: text })}
              rows={4}
            />
          )}
        </Field>
      )}
      {failed && (
        <Problem error={failed.error}>
          {mayBeDone && (
            <>
              <p>{words.notSent}</p>
              <Button busy={busy} onClick={() => void send(failed.body)}>
                {common.tryAgain}
              </Button>
            </>
          )}
        </Problem>
      )}
      {mayDecide && (
        <div className="thumb">
          {single && !asksInput(single) && (
            <>
              <Button busy={busy} onClick={one('deny')}>
                {messages.deny}
              </Button>
              <Button kind="primary" busy={busy} onClick={one('approve')}>
                {messages.approve}
              </Button>
            </>
          )}
          {single && asksInput(single) && (
            <>
              <Button busy={busy} onClick={one('deny')}>
                {input.decline}
              </Button>
              <Button
                kind={single.mode === 'url' && !draftOf(single).opened ? 'plain' : 'primary'}
                busy={busy}
                onClick={one('approve')}
              >
                {single.mode === 'url' ? input.finished : input.submit}
              </Button>
            </>
          )}
          {several && (
            <>
              <span className="hint">{messages.decidedCount(calls.length - left, calls.length)}</span>
              <Button
                kind="primary"
                busy={busy}
                off={all === null && left > 0 ? messages.decideAll(left) : null}
                onClick={() => {
                  setTried(true);
                  if (all) void send(all);
                }}
              >
                {messages.send}
              </Button>
            </>
          )}
          {calls.length === 0 && (
            <Button
              kind="primary"
              busy={busy}
              off={reply === '' ? words.writeReply : null}
              onClick={() => void send({ message: reply })}
            >
              {words.sendReply}
            </Button>
          )}
        </div>
      )}
    </>
  );
};
