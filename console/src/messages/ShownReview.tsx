import { listPolling, useOperation } from '../api/index.ts';
import type { Review } from '../api/types.gen.ts';
import { to as pathTo } from '../routing/to.ts';
import { reviewNote as words } from '../text/en/review-note.ts';
import { Time } from '../time/index.ts';
import { Link, Muted, Words } from '../ui/index.ts';
import css from './ShownReview.module.css';

const receiver = ({ channel_name, to }: Review['messages'][number]): string =>
  to === 'channel' ? channel_name : words.to(channel_name, typeof to === 'string' ? to : to.name);

const Sent = ({ messages }: Pick<Review, 'messages'>) => {
  const in_ = (state: Review['messages'][number]['state']) =>
    messages.filter((message) => message.state === state).map(receiver);
  const [delivered, pending, failed] = [in_('delivered'), in_('pending'), in_('failed')];
  return (
    <>
      {delivered.length > 0 && `${words.sent(delivered)} `}
      {pending.length > 0 && `${words.pending(pending)} `}
      {failed.length > 0 && `${words.notSent(failed)} `}
    </>
  );
};

/** Until when an open review can be decided, whom it was sent to, and its page for phones. */
export const ShownReview = ({ id }: { id: string }) => {
  const { data } = useOperation('getReview', { review_id: id }, { every: listPolling(false) });
  if (data?.state !== 'open') return null;
  const { expires_at, on_expiry, escalated_at, messages } = data;
  return (
    <p className={css.review}>
      <Muted small>
        {expires_at && on_expiry && (
          <>
            <Words
              text={words.until}
              at={<Time at={expires_at} />}
              relative={<Time at={expires_at} form="relative" />}
              else={words.otherwise[on_expiry]}
            />{' '}
          </>
        )}
        {escalated_at && (
          <>
            <Words text={words.escalated} at={<Time at={escalated_at} />} />{' '}
          </>
        )}
        <Sent messages={messages} />
        <Link href={pathTo('/approve/$reviewId', { reviewId: id })}>{words.open}</Link>
      </Muted>
    </p>
  );
};
