import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { ApiProblem, useAction } from '../api/index.ts';
import { Emphasis, Skeleton } from '../ui/index.ts';

interface Counted {
  matched: number;
  would_change: number | null;
}

/**
 * An action on many things. It counts what would change when its dialog opens, and changes exactly that: if others match by
 * then (412), it counts again, and the person decides again.
 */
export const useCountedAction = <C extends Counted>(
  count: () => Promise<C>,
  change: (counted: C) => Promise<void>,
) => {
  const [counted, setCounted] = useState<C | null>(null);
  const [recounted, setRecounted] = useState(false);
  const counting = useAction(async () => setCounted(await count()));
  const start = useEffectEvent(() => void counting.run());
  useEffect(() => start(), []);
  const act = useAction(async () => {
    try {
      if (counted) await change(counted);
    } catch (problem) {
      if (!(problem instanceof ApiProblem) || problem.status !== 412) throw problem;
      setRecounted(true);
      await counting.run();
    }
  });
  return {
    counted,
    recounted,
    act: { ...act, busy: act.busy || counting.busy, error: act.error ?? counting.error },
  };
};

/** The number of things that would change. `children` say what stays as it is. */
export const CountedChange = ({
  counted,
  recounted,
  words,
  children,
}: {
  counted: Counted | null;
  recounted: boolean;
  words: {
    counting: string;
    countChanged: string;
    nothingWouldChange: string;
    wouldChange: (change: number, matched: number) => string;
  };
  children: ReactNode;
}) => (
  <>
    {recounted && (
      <p role="alert">
        <Emphasis tone="late">{words.countChanged}</Emphasis>
      </p>
    )}
    {counted ? (
      <div>
        <p>
          {!counted.would_change
            ? words.nothingWouldChange
            : words.wouldChange(counted.would_change, counted.matched)}
        </p>
        {children}
      </div>
    ) : (
      <div>
        <p>{words.counting}</p>
        <Skeleton rows={1} height={24} />
      </div>
    )}
  </>
);
