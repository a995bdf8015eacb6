import {
  focusManager,
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useQuery,
} from '@tanstack/react-query';
import { useEffect } from 'react';
import { isUnreachable, recordConnection } from './connection.ts';
import {
  addressOf,
  type Body,
  methodOf,
  type OperationId,
  type Output,
  type Params,
  type QueryOf,
  type Read,
  type ReadId,
  readOf,
} from './operations.ts';
import { nextPoll } from './polling.ts';
import { ApiProblem, type Reply, request } from './request.ts';

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
    // Requests and responses may have secrets: they are not kept.
    mutations: { networkMode: 'always', retry: false, gcTime: 0 },
  },
});

/** The failures in a row of each address. */
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

/** The state of what a page reads. */
export interface LoadState<T> {
  data: T | undefined;
  etag: string | null;
  /** The last failure. With `data`, these are stale: show them with `Stale`. */
  error: ApiProblem | null;
  loading: boolean;
  fetching: boolean;
  /** The data are those of the previous address. */
  previous: boolean;
  updatedAt: number;
  refetch: () => void;
}

const toLoadState = <T>(result: UseQueryResult<Reply<T>>): LoadState<T> => ({
  data: result.data?.body,
  etag: result.data?.etag ?? null,
  error: result.error as ApiProblem | null,
  loading: result.isPending,
  fetching: result.isFetching,
  previous: result.isPlaceholderData,
  updatedAt: result.dataUpdatedAt,
  refetch: () => void result.refetch(),
});

/** The key of what is cached: the operation, by which `refresh` finds it, and its whole address. */
const keyOf = <O extends OperationId>(operation: O, params: Params<O> | null, query?: QueryOf<O>) =>
  [operation, params === null ? '' : addressOf(operation, params, query)] as const;

/** The addresses that were asked for before their page was there, until it is. */
const early = new Set<string>();
/**
 * The time for which their responses count as new, in milliseconds: someone who went to another page first may return
 * to it later.
 */
const earlyMs = 30_000;

export interface ReadOptions<O extends ReadId> {
  query?: QueryOf<O>;
  /** Milliseconds between two requests; none if it is absent. No request is sent while the page is hidden. */
  every?: number | undefined;
  enabled?: boolean;
  /** Show the data of the previous address until the new ones are there: for filters and pages of a list. */
  keepPrevious?: boolean;
  staleTime?: number;
  /** false: not again when the page gets the focus, because rows would move under the pointer. */
  onFocus?: boolean;
}

/**
 * Reads an operation, and again every `every` milliseconds while the page is visible, at once when it becomes visible,
 * and after changes (`perform`). `params` null: there is nothing to read yet.
 */
export const useOperation = <O extends ReadId>(
  operation: O,
  params: Params<O> | null,
  options: ReadOptions<O> = {},
): LoadState<Output<O>> => {
  const { query, every, enabled = true, keepPrevious = false, staleTime, onFocus = true } = options;
  const queryKey = keyOf(operation, params, query);
  const [, address] = queryKey;
  const result = useQuery<Reply<Output<O>>>({
    queryKey,
    queryFn: ({ signal }) => fetchReply(address, signal),
    enabled: enabled && params !== null,
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
  return toLoadState(result);
};

/** Asks for the data of a page while its code is still on its way: `useOperation` then takes the response. */
export const readEarly = (queryKey: Read): void => {
  const [, address] = queryKey;
  if (early.has(address)) return;
  early.add(address);
  void queryClient.prefetchQuery({ queryKey, queryFn: ({ signal }) => fetchReply(address, signal) });
};

/** The first page of a `ListPage`, if its address has no filter. */
export const readList =
  (operation: ReadId) =>
  ({ search }: { search: object }): Read[] =>
    Object.values(search).every((value) => value === undefined)
      ? [readOf(operation, {} as Params<ReadId>, { limit: 50 } as QueryOf<ReadId>)]
      : [];

/** Reads these operations again, whatever their parameters, where a page shows them. */
export const refresh = (...operations: readonly OperationId[]): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [operation] }) => operations.includes(operation as OperationId),
  });

/** Replaces the cached response of an operation, for example with that of a change. */
export const setCached = <O extends ReadId>(
  operation: O,
  params: Params<O>,
  reply: Reply<Output<O>>,
  query?: QueryOf<O>,
): void => {
  const queryKey = keyOf(operation, params, query);
  // A response that is on its way can be older than the change.
  void queryClient.cancelQueries({ queryKey, exact: true });
  queryClient.setQueryData(queryKey, reply);
};

export const getCached = <O extends ReadId>(operation: O, params: Params<O>): Reply<Output<O>> | undefined =>
  queryClient.getQueryData(keyOf(operation, params));

/**
 * The state of a list whose rows are refreshed in place by another request: as old as the later of the two, and stale if
 * either failed. `refreshed` is null while the list itself is fresh: an older failure says nothing then.
 */
export const withRefresh = <T>(list: LoadState<T>, refreshed: LoadState<T> | null): LoadState<T> =>
  refreshed === null
    ? list
    : {
        ...list,
        error: list.error ?? refreshed.error,
        updatedAt: Math.max(list.updatedAt, refreshed.updatedAt),
      };

/**
 * Asks by a POST that changes nothing, such as a preview. `body` null: there is nothing to ask. The response to the same
 * body is kept for a minute; until the response to a new body is there, the previous one is shown.
 */
export const usePostQuery = <O extends OperationId>(
  operation: O,
  params: Params<O>,
  body: Body<O> | null,
): LoadState<Output<O>> => {
  const address = addressOf(operation, params);
  const result = useQuery<Reply<Output<O>>>({
    queryKey: [operation, address, JSON.stringify(body)],
    queryFn: ({ signal }) => request(methodOf(operation), address, { body, signal }),
    enabled: body !== null,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    placeholderData: body === null ? undefined : keepPreviousData,
  });
  return toLoadState(result);
};

/** A page is looked at while it is visible, whether or not its window has the focus of the keyboard. */
export const watchVisibility = (): void =>
  focusManager.setEventListener((onFocus) => {
    const listener = () => onFocus();
    addEventListener('visibilitychange', listener);
    addEventListener('focus', listener);
    return () => {
      removeEventListener('visibilitychange', listener);
      removeEventListener('focus', listener);
    };
  });
