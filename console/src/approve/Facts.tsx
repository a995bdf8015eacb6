import type { ReactNode } from 'react';
import type { Review } from '../api/types.gen.ts';
import { asksInput } from '../messages/values.ts';
import { approve as words } from '../text/en/approve.ts';
import { input } from '../text/en/input.ts';
import { Time } from '../time/Time.tsx';
import { Words } from '../ui/Words.tsx';
import { callsOf } from './draft.ts';
import type { Viewer } from './review.ts';

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
);

const itemAddress = ({ source, work_item_id, conversation_id, agent }: Review): string =>
  source === 'work_item'
    ? `/work-items/${work_item_id}`
    : `/agents/${agent.id}/conversations/${conversation_id}`;

/** The reason, if no call has the same one. That of a tool which asks for input is the heading of its region. */
const ownReason = (review: Review): string | null =>
  callsOf(review).some(
    (call) =>
      call.reason === review.reason ||
      (asksInput(call) && input.asks(call.tool_name ?? '') === review.reason),
  )
    ? null
    : review.reason;

/** What it is about, who decides, and until when. */
export const Facts = ({ review, viewer }: { review: Review; viewer: Viewer }) => {
  const { agent, name, source, required_role, expires_at, on_expiry, escalated_at, state } = review;
  const reason = ownReason(review);
  return (
    <>
      {reason && <p className="reason">{reason}</p>}
      <dl className="facts">
        <Fact label={words.agent}>
          <bdi>{agent.name}</bdi>
        </Fact>
        <Fact label={words.name[source]}>
          <bdi>{name || words.unnamed}</bdi>
        </Fact>
        <Fact label={words.who}>{words.roles[callsOf(review).length === 0 ? 'member' : required_role]}</Fact>
        {state === 'open' && (
          <Fact label={words.until}>
            {expires_at ? (
              <>
                <Time at={expires_at} />
                {', '}
                <Time at={expires_at} form="relative" />
                {on_expiry && <span className="hint">{words.onExpiry[on_expiry]}</span>}
              </>
            ) : (
              words.noEnd
            )}
          </Fact>
        )}
      </dl>
      {escalated_at && state === 'open' && (
        <p className="say look">
          <Words text={words.escalated} at={<Time at={escalated_at} />} />
        </p>
      )}
      <p className="links">
        <a href={itemAddress(review)}>{words.openItem[source]}</a>
        <span className="hint">
          <Words text={words.asYou} name={viewer.principal.name} />
        </span>
      </p>
    </>
  );
};
