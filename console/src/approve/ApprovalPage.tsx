import { useEffect, useState } from 'react';
import { approve as words } from '../text/en/approve.ts';
import { common } from '../text/en/common.ts';
import { Brand } from '../ui/Brand.tsx';
import { messageOf } from '../ui/problem-message.ts';
import { Words } from '../ui/Words.tsx';
import { Decide } from './Decide.tsx';
import { type Draft, emptyDraft, isEmpty } from './draft.ts';
import { Facts } from './Facts.tsx';
import { Outcome } from './Outcome.tsx';
import { Button, Problem } from './parts.tsx';
import { useReview } from './review.ts';

/** Sign-in returns to this page, by an API key and by an identity provider. */
const signIn = (inNewTab: boolean): void => {
  const address = `/sign-in?return_to=${encodeURIComponent(location.pathname)}`;
  if (inNewTab) window.open(address, '_blank', 'noopener');
  else location.assign(address);
};

const SignedOut = ({ kept }: { kept: boolean }) => (
  <div className="card">
    <p>{kept ? words.keptHere : words.signedOut}</p>
    <Button kind="primary" onClick={() => signIn(kept)}>
      {words.signIn}
    </Button>
  </div>
);

/** Approvals on a phone: one review, whole, and what decides it. */
export const ApprovalPage = ({ id }: { id: string }) => {
  const { got, problem, sentence, decide, load } = useReview(id);
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [owner, setOwner] = useState<string | null>(null);
  const viewer = 'viewer' in got ? got.viewer : undefined;
  const own = viewer?.principal.id ?? null;
  // What one person wrote is not for the next one who signs in here.
  if (own !== null && own !== owner) {
    setOwner(own);
    setDraft(emptyDraft);
  }
  const review = got.kind === 'review' ? got.review : null;
  useEffect(() => {
    document.title = `${words.title} · ${common.product}`;
  }, []);
  return (
    <>
      <header className="top">
        <Brand branding={viewer?.branding} />
      </header>
      <main>
        <h1>{words.title}</h1>
        {got.kind === 'loading' && <p role="status">{words.loading}</p>}
        {got.kind === 'signed-out' && <SignedOut kept={!isEmpty(draft)} />}
        {got.kind === 'missing' && (
          <div className="card">
            <h2>{words.missing}</h2>
            <p>
              <Words text={words.missingMore} name={<b>{got.viewer.principal.name}</b>} />
            </p>
            <a className="button plain" href="/review">
              {words.toReview}
            </a>
          </div>
        )}
        {got.kind === 'failed' && problem && (
          <Problem error={problem}>
            <Button onClick={() => void load()}>{common.tryAgain}</Button>
          </Problem>
        )}
        {review && viewer && (
          <>
            {problem && (
              <p role="status" className="say look" title={messageOf(problem)}>
                {words.stale}
              </p>
            )}
            <Facts review={review} viewer={viewer} />
            {review.state === 'open' ? (
              <Decide review={review} viewer={viewer} draft={draft} onDraft={setDraft} decide={decide} />
            ) : (
              <Outcome review={review} sentence={sentence} />
            )}
          </>
        )}
      </main>
    </>
  );
};
