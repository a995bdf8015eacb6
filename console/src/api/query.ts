import {
  focusManager,
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { isUnreachable, recordConnection } from './connection.ts';
import { nextPoll } from './polling.ts';
import { ApiProblem, type Query, type Reply, request, withQuery } from './request.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // `navigator.onLine` says nothing about the platform, which may run on this machine.
      networkMode: 'always',
      refetchOnReconnect: true,
      refetchOnWindowFocus: 'always',
      retry: false,
      staleTime: 1_000,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

/** How many times in a row each query failed. */
const failures = new Map<string, number>();

const fetchReply = async <T>(address: string, signal: AbortSignal): Promise<Reply<T>> => {
  try {
    const reply = await request<T>('GET', address, { signal });
    failures.delete(address);
    recordConnection(true);
    return reply;
  } catch (error) {
    if (error instanceof ApiProblem) {
      failures.set(address, (failures.get(address) ?? 0) + 1);
      recordConnection(!isUnreachable(error));
    }
    throw error;
  }
};

const tab = Math.random() * 1_000;

export interface GetOptions {
  query?: Query;
  /** Milliseconds between two requests; none if it is absent. No request is sent while the page is hidden. */
  every?: number | undefined;
  enabled?: boolean;
  /** Show the data of the previous address until the new ones are there: for filters and pages of a list. */
  keepPrevious?: boolean;
  staleTime?: number;
  /** false: not again when the page gets the focus, because rows would move under the pointer. */
  onFocus?: boolean;
}

/** What `useGet` returns. */
export interface Got<T> {
  data: T | undefined;
  etag: string | null;
  /** The last failure. With `data`, these are stale: show them with `Stale`. */
  error: ApiProblem | null;
  /** There is nothing to show yet. */
  loading: boolean;
  /** A request is on its way. */
  fetching: boolean;
  /** The data are those of the previous address. */
  previous: boolean;
  /** When the data came, in milliseconds. */
  updatedAt: number;
  refetch: () => void;
}

const toGot = <T>(result: UseQueryResult<Reply<T>>): Got<T> => ({
  data: result.data?.body,
  etag: result.data?.etag ?? null,
  error: result.error as ApiProblem | null,
  loading: result.isPending,
  fetching: result.isFetching,
  previous: result.isPlaceholderData,
  updatedAt: result.dataUpdatedAt,
  refetch: () => void result.refetch(),
});

/** The key of what is cached for `path` and `query`. `invalidate` removes by path, whatever the query. */
const keyOf = (path: string, query?: Query) => [path, withQuery('', query)] as const;

/** The addresses that were asked for before their page was there, until it is. */
const early = new Set<string>();
/** How long their responses count as new, in milliseconds: someone who went to another page first may return to it later. */
const earlyMs = 30_000;

/** Asks for what a page will show while its code is still on its way. `useGet` then takes the response. */
export const getEarly = (path: string, query?: Query): void => {
  const address = withQuery(path, query);
  early.add(address);
  void queryClient.prefetchQuery({
    queryKey: keyOf(path, query),
    queryFn: ({ signal }) => fetchReply(address, signal),
  });
};

/**
 * Gets `path`, and again every `every` milliseconds while the page is visible, at once when it becomes visible, and
 * after changes (`useInvalidate`).
 */
export const useGet = <T>(path: string, options: GetOptions = {}): Got<T> => {
  const { query, every, enabled = true, keepPrevious = false, staleTime, onFocus = true } = options;
  const address = withQuery(path, query);
  const result = useQuery<Reply<T>>({
    queryKey: keyOf(path, query),
    queryFn: ({ signal }) => fetchReply<T>(address, signal),
    enabled,
    // On a slow device the page comes long after the response to what was asked early.
    refetchOnMount: ({ state }) =>
      state.isInvalidated || !early.has(address) || Date.now() - state.dataUpdatedAt > earlyMs,
    ...(staleTime === undefined ? {} : { staleTime }),
    ...(onFocus ? {} : { refetchOnWindowFocus: false }),
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
    refetchInterval: ({ state }) =>
      every === undefined
        ? false
        : nextPoll(every, failures.get(address) ?? 0, tab + state.dataUpdateCount + state.errorUpdateCount),
  });
  useEffect(() => void early.delete(address), [address]);
  return toGot(result);
};

/**
 * The state of a list whose rows are refreshed in place by another request: as old as the later of the two, and stale if
 * either failed. `refreshed` is null while the list itself is fresh: an older failure says nothing then.
 */
export const withRefresh = <T>(list: Got<T>, refreshed: Got<T> | null): Got<T> =>
  refreshed === null
    ? list
    : {
        ...list,
        error: list.error ?? refreshed.error,
        updatedAt: Math.max(list.updatedAt, refreshed.updatedAt),
      };

/**
 * Asks `path` with a POST that changes nothing, such as a preview. `body` null: there is nothing to ask. The response
 * to the same body is kept for a minute; until the one to a new body is there, the previous one is shown.
 */
export const useAsk = <T>(path: string, body: object | null): Got<T> => {
  const result = useQuery<Reply<T>>({
    queryKey: [path, JSON.stringify(body)],
    queryFn: ({ signal }) => request<T>('POST', path, { body, signal }),
    enabled: body !== null,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    placeholderData: body === null ? undefined : keepPreviousData,
  });
  return toGot(result);
};

/** Returns a function that gets again everything cached under paths that begin with one of `prefixes`. */
export const useInvalidate = () => {
  const client = useQueryClient();
  return (...prefixes: string[]) =>
    client.invalidateQueries({
      predicate: ({ queryKey: [path] }) => prefixes.some((prefix) => String(path).startsWith(prefix)),
    });
};

/** Returns a function that replaces what is cached for `path`, for example with the response of a change. */
export const useSetCached = () => {
  const client = useQueryClient();
  return <T>(path: string, reply: Reply<T>, query?: Query): void => {
    const queryKey = keyOf(path, query);
    // A response that is on its way can be older than the change.
    void client.cancelQueries({ queryKey, exact: true });
    client.setQueryData(queryKey, reply);
  };
};

// A page is looked at while it is visible, whether or not its window has the focus of the keyboard.
focusManager.setEventListener((onFocus) => {
  const listener = () => onFocus();
  addEventListener('visibilitychange', listener);
  addEventListener('focus', listener);
  return () => {
    removeEventListener('visibilitychange', listener);
    removeEventListener('focus', listener);
  };
});
