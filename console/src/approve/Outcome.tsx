import { useEffect, useRef } from 'react';
import type { Review } from '../api/types.gen.ts';
import { asksInput, toolOfReason } from '../messages/values.ts';
import { approve as words } from '../text/en/approve.ts';
import { input } from '../text/en/input.ts';
import { messages } from '../text/en/messages.ts';
import { Time } from '../time/Time.tsx';
import { Words } from '../ui/Words.tsx';
import { Changes } from './Changes.tsx';
import { type Asked, callsOf, nameOf, shownJson } from './draft.ts';

const titleOf = (review: Review): string => {
  if (review.state === 'expired') return words.states.expired;
  if (review.state === 'withdrawn') return words.states.withdrawn;
  const calls = callsOf(review);
  if (calls.length === 0) return words.states.answered;
  const approved = calls.filter(({ decision }) => decision === 'approve').length;
  const onlyInput = calls.every(asksInput);
  if (approved === calls.length) return onlyInput ? words.states.answered : words.states.approved;
  if (approved > 0) return words.states.mixed;
  return onlyInput ? words.states.declined : words.states.denied;
};

const decisionWord = (call: Asked): string => {
  const { decision } = call;
  if (asksInput(call) && decision !== null)
    return decision === 'approve' ? words.states.answered : words.states.declined;
  return decision === null
    ? words.callUndecided
    : decision === 'approve'
      ? words.callApproved
      : words.callDenied;
};

const DecidedCall = ({ call, name, several }: { call: Asked; name: string; several: boolean }) => (
  <section aria-label={name}>
    {several && <p className="hint">{name}</p>}
    <p>
      <code className="tool">{call.tool_name ?? messages.budget}</code> <b>{decisionWord(call)}</b>
    </p>
    {call.decision_reason && <p>{<Words text={words.reasonWas} reason={call.decision_reason} />}</p>}
    {call.reason && toolOfReason(call.reason) === null && <p className="said">{call.reason}</p>}
    {/* Answers are of the tool alone, and are not here. */}
    {asksInput(call) ? (
      call.decision === 'approve' && <p className="hint">{input.onlyTool}</p>
    ) : (
      <>
        <pre>{shownJson(call.arguments ?? {})}</pre>
        {call.executed_arguments && <Changes before={call.arguments ?? {}} after={call.executed_arguments} />}
      </>
    )}
  </section>
);

/** How the review ended: who, when, how. `sentence` is what the platform said to the second of two deciders. */
export const Outcome = ({ review, sentence }: { review: Review; sentence: string | null }) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const { closed_at, closed_by, via } = review;
  const calls = callsOf(review);
  const at = closed_at && <Time at={closed_at} />;
  const relative = closed_at && <Time at={closed_at} form="relative" />;
  const byPerson = closed_by && review.state !== 'expired';
  return (
    <section aria-label={words.outcome} className="card outcome">
      <h2 ref={heading} tabIndex={-1}>
        {titleOf(review)}
      </h2>
      {sentence && <p className="say look">{sentence}</p>}
      {at && (
        <p>
          {byPerson ? (
            <Words
              text={words.by}
              name={<b>{closed_by.name}</b>}
              how={via ? words.via[via] : ''}
              at={at}
              relative={relative}
            />
          ) : (
            <Words text={words.alone} at={at} relative={relative} />
          )}
        </p>
      )}
      {review.state === 'expired' && <p>{words.expiredMore}</p>}
      {calls.length > 0 && (
        <ul>
          {calls.map((call, at, { length }) => (
            <li key={call.approval_id}>
              <DecidedCall call={call} name={nameOf(call, at, length)} several={length > 1} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};
