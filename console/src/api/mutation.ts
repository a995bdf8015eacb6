import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import type { ChangeId } from './changes.ts';
import { randomKey, withKey } from './idempotency.ts';
import {
  addressOf,
  type InputOf,
  methodOf,
  type OperationId,
  type Output,
  type Params,
  takesKey,
} from './operations.ts';
import { queryClient, refresh } from './query.ts';
import { ApiProblem, type Reply, type RequestOptions, request } from './request.ts';

/**
 * Sends a request of an operation; `perform` also reads again what it changes. A request that makes something sends the same
 * `Idempotency-Key` with the same content until its outcome is known, so that a second attempt after a lost response makes
 * nothing twice. Throws `ApiProblem`, or the `AbortError` of its signal.
 */
export const call = async <O extends OperationId>(
  operation: O,
  params: Params<O>,
  ...[input]: InputOf<O>
): Promise<Reply<Output<O>>> => {
  const send = (idempotencyKey?: string) =>
    request<Output<O>>(methodOf(operation), addressOf(operation, params), {
      ...(input as RequestOptions),
      idempotencyKey,
    });
  if (!takesKey(operation) || input?.idempotencyKey) return send(input?.idempotencyKey);
  return withKey(JSON.stringify([operation, params, input?.body]), send);
};

/** Tells if the request itself is refused, whatever the state of the thing. */
const isWrong = (error: unknown): boolean =>
  error instanceof ApiProblem && [400, 401, 403, 413, 422, 429].includes(error.status);

/** The table is no part of the first page, which changes nothing: it would be 1 kB of it. */
export const loadChanges = () => import('./changes.ts');

export const refreshAfter = async (operation: ChangeId): Promise<void> => {
  const table = await loadChanges().catch(() => null);
  // It may be gone from the server because the platform was updated.
  const reads = table ? table.changes[operation] : 'everything';
  return reads === 'everything' ? queryClient.invalidateQueries() : refresh(...reads);
};

let refreshed: Promise<void> = Promise.resolve();

/**
 * Changes something, and reads again what shows it (`changes.ts`). Resolves to the response of the change; an action stays
 * busy until the page shows the change. Throws `ApiProblem`.
 */
export const perform = async <O extends ChangeId>(
  operation: O,
  params: Params<O>,
  ...input: InputOf<O>
): Promise<Reply<Output<O>>> => {
  let wrong = false;
  try {
    return await call(operation, params, ...input);
  } catch (error) {
    wrong = isWrong(error);
    throw error;
  } finally {
    // Also after most refusals: the state of the thing has changed in the meantime.
    if (!wrong) refreshed = refreshAfter(operation);
  }
};

export interface Action<A extends unknown[], T> {
  run: (...values: A) => Promise<T | undefined>;
  busy: boolean;
  error: ApiProblem | null;
  /** The value of the last run; undefined while another one runs. */
  result: T | undefined;
  clear: () => void;
}

/** The thing is gone, or is in another state than the page shows: someone else was first. */
const isOutdated = ({ status }: ApiProblem): boolean => status === 404 || status === 409;

/**
 * A change that a person makes. `run` does nothing while a run has not ended, so that a double click changes nothing
 * twice; it resolves to undefined if the change failed, and `error` says why. What the page shows is read again if the
 * failure says that it is out of date.
 */
export const useAction = <A extends unknown[], T>(act: (...values: A) => Promise<T>): Action<A, T> => {
  const running = useRef(false);
  const { mutateAsync, isPending, error, data, reset } = useMutation<T, ApiProblem, A>({
    mutationFn: async (values) => {
      const returned = await act(...values);
      await refreshed;
      return returned;
    },
    onError: (failure) => void (isOutdated(failure) && queryClient.invalidateQueries()),
  });
  return {
    busy: isPending,
    error,
    result: data,
    clear: reset,
    run: async (...values) => {
      if (running.current) return undefined;
      running.current = true;
      try {
        return await mutateAsync(values);
      } catch {
        return undefined;
      } finally {
        running.current = false;
      }
    },
  };
};

/**
 * Returns a function that gives the `Idempotency-Key` of a body: the same one for the same body, so that sending it again
 * after a failure makes nothing twice.
 */
export const useIdempotencyKey = (): ((body: unknown) => string) => {
  const last = useRef({ body: '', key: '' });
  return (body) => {
    const text = JSON.stringify(body) ?? '';
    if (last.current.key === '' || last.current.body !== text)
      last.current = { body: text, key: randomKey() };
    return last.current.key;
  };
};
