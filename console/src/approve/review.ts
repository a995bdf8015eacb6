import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import { withKey } from '../api/idempotency.ts';
import { ApiProblem, request } from '../api/request.ts';
import type { DecideReviewBody, Me, Review } from '../api/types.gen.ts';

/** Who is signed in, as far as this page shows it. */
export type Viewer = Pick<Me, 'branding' | 'principal'>;

export type Got =
  | { kind: 'loading' | 'signed-out' | 'failed' }
  | { kind: 'missing'; viewer: Viewer }
  | { kind: 'review'; review: Review; viewer: Viewer };

/** A review that is open is read again so often while the page is visible: someone else may decide. */
const everyMs = 5_000;
/** The longest time between two attempts while the platform is out of reach. */
const longestMs = 40_000;

/** The platform wrote into the page who is signed in; empty: it did not know in time, or no one is. */
const viewerOfPage = (): Viewer | null => {
  const text = document.querySelector<HTMLMetaElement>('meta[name="me"]')?.content ?? '';
  return text.startsWith('{') ? (JSON.parse(text) as Viewer) : null;
};

const readViewer = async (): Promise<Viewer> => (await request<Me>('GET', '/app/api/me')).body;

const isClosed = (got: Got): boolean => got.kind === 'review' && got.review.state !== 'open';

/**
 * The review and who looks at it, read again while it is open and the page is visible. `problem` is why the last attempt to
 * read it failed. `decide` resolves to null, or to why it did not work.
 */
export const useReview = (id: string) => {
  const [got, setGot] = useState<Got>({ kind: 'loading' });
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  /** What the platform said to the second of two deciders. */
  const [sentence, setSentence] = useState<string | null>(null);
  const viewer = useRef(viewerOfPage());
  const path = `/api/v2/reviews/${encodeURIComponent(id)}`;

  const show = useCallback((review: Review) => {
    const { current } = viewer;
    if (!current) return;
    // A response that was on its way when the review was closed does not open it again.
    setGot((before) =>
      isClosed(before) && review.state === 'open' ? before : { kind: 'review', review, viewer: current },
    );
  }, []);

  const fail = useCallback((error: unknown) => {
    if (!(error instanceof ApiProblem)) throw error;
    if (error.status === 401) {
      viewer.current = null;
      setGot({ kind: 'signed-out' });
      return;
    }
    const { current } = viewer;
    if ((error.status === 404 || error.status === 403) && current)
      setGot({ kind: 'missing', viewer: current });
    else setGot((before) => (before.kind === 'loading' ? { kind: 'failed' } : before));
    setProblem(error);
  }, []);

  const load = useCallback(async (): Promise<boolean> => {
    try {
      const [review, known] = await Promise.all([
        request<Review>('GET', path),
        viewer.current ?? readViewer(),
      ]);
      viewer.current = known;
      setProblem(null);
      show(review.body);
      return true;
    } catch (error) {
      // Unknown ids are 404 only for someone who is signed in.
      if (error instanceof ApiProblem && error.status === 404 && !viewer.current)
        viewer.current = await readViewer().catch(() => null);
      fail(error);
      return false;
    }
  }, [path, show, fail]);

  const final = isClosed(got) || got.kind === 'missing';
  const look = useEffectEvent(load);
  useEffect(() => {
    if (final) return;
    let wait = everyMs;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stopped = false;
    const turn = async () => {
      clearTimeout(timer);
      const reached = await look();
      wait = reached ? everyMs : Math.min(longestMs, wait * 2);
      clearTimeout(timer);
      if (!stopped && document.visibilityState === 'visible') timer = setTimeout(turn, wait);
    };
    // Also for who comes back from sign-in in another tab.
    const again = () => document.visibilityState === 'visible' && void turn();
    void turn();
    document.addEventListener('visibilitychange', again);
    addEventListener('focus', again);
    addEventListener('online', again);
    return () => {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', again);
      removeEventListener('focus', again);
      removeEventListener('online', again);
    };
  }, [final]);

  const decide = async (body: DecideReviewBody): Promise<ApiProblem | null> => {
    const send = (idempotencyKey: string) =>
      request<Review>('POST', `${path}/decide`, { body, idempotencyKey });
    try {
      show((await withKey(JSON.stringify([path, body]), send)).body);
      return null;
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      const closed = error.status === 412 ? (error.fields.review as Review | undefined) : undefined;
      if (closed) {
        setSentence(error.message);
        show(closed);
        return null;
      }
      if (error.status === 401 || error.status === 404) fail(error);
      // The role was lowered, or the review has other calls by now.
      else void load();
      return error;
    }
  };
  return { got, problem, sentence, decide, load };
};

export type Decide = ReturnType<typeof useReview>['decide'];
