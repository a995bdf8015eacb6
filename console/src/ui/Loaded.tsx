import { type ReactNode, useDeferredValue, useEffect, useState } from 'react';
import { lackedRole, type Role, useMeQuery } from '../api/me.ts';
import type { OperationId } from '../api/operations.ts';
import type { LoadState } from '../api/query.ts';
import { common } from '../text/en/common.ts';
import css from './Loaded.module.css';
import { ErrorState, Gone, NoPermission, Updated } from './states.tsx';

/** Waits for 150 ms: what is there sooner shows no skeleton, so that nothing flickers. */
const useLate = (): boolean => {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return late;
};

/** Grey lines in the place of what comes, as high as it. */
export const Skeleton = ({ rows = 5, height = 36 }: { rows?: number; height?: number }) => {
  const late = useLate();
  return (
    <div className={css.skeleton} role="status" aria-label={common.loading} style={{ height: rows * height }}>
      {late &&
        Array.from({ length: rows }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike.
          <div key={index} style={{ height }} className={css.line}>
            <span style={{ width: `${[72, 58, 66, 44][index % 4]}%` }} />
          </div>
        ))}
    </div>
  );
};

export interface LoadedProps<T> {
  got: LoadState<T>;
  skeleton?: ReactNode;
  /** The list to which a page of one thing leads back when the thing is gone. */
  list?: { label: string; href: string };
  audit?: string;
  /** The operation of the request: a refusal then says which role it needs. */
  operation?: OperationId;
  children: (data: T) => ReactNode;
}

/**
 * Shows data in each of their states: a skeleton, the content, content that could not be refreshed, an error with "Try
 * again", no permission, and gone.
 */
export const Loaded = <T,>({ got, skeleton, list, audit, operation, children }: LoadedProps<T>) => {
  const role: Role = useMeQuery().data?.principal.role ?? 'member';
  const { data, error, loading, refetch, updatedAt } = got;
  // The first content is rendered in parts of 5 ms, while the skeleton is there: at once, a long list would keep a slow
  // device from everything else for half a second.
  const shows = useDeferredValue(data !== undefined);
  if (error?.status === 404 && list) return <Gone list={list} audit={audit} />;
  if (error?.status === 403) {
    return <NoPermission role={role} requiredRole={operation ? lackedRole(operation, role) : null} />;
  }
  if (data !== undefined && shows) {
    return (
      <>
        {error && (
          <div className={css.stale} role="status">
            <Updated at={updatedAt} error={error} />
          </div>
        )}
        <div className={got.previous ? css.previous : undefined} aria-busy={got.previous || undefined}>
          {children(data)}
        </div>
      </>
    );
  }
  if (error && data === undefined) return <ErrorState error={error} onRetry={refetch} list={list} />;
  return loading || data !== undefined ? (skeleton ?? <Skeleton />) : null;
};
