import { lazy, Suspense } from 'react';

const ShownReview = lazy(async () => ({ default: (await import('./ShownReview.tsx')).ShownReview }));

/** What is known of the review of what waits: until when, whom it was sent to. Most pages with messages have none. */
export const ReviewNote = ({ id }: { id: string | null }) =>
  id !== null && (
    <Suspense fallback={null}>
      <ShownReview id={id} />
    </Suspense>
  );
