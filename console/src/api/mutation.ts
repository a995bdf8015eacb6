import { useRef, useState } from 'react';
import { queryClient } from './query.ts';
import { type ApiProblem, type Reply, request } from './request.ts';

/** What `useAction` returns. */
export interface Action<A extends unknown[], T> {
  run: (...values: A) => Promise<T | undefined>;
  /** A run has not ended. */
  busy: boolean;
  error: ApiProblem | null;
  /** What the last run returned; undefined while another one runs. */
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
export const useAction = <A extends unknown[], T>(perform: (...values: A) => Promise<T>): Action<A, T> => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiProblem | null>(null);
  const [result, setResult] = useState<T>();
  const running = useRef(false);
  return {
    busy,
    error,
    result,
    clear: () => setError(null),
    run: async (...values) => {
      if (running.current) return undefined;
      running.current = true;
      setBusy(true);
      setError(null);
      setResult(undefined);
      try {
        const returned = await perform(...values);
        setResult(() => returned);
        return returned;
      } catch (failure) {
        setError(failure as ApiProblem);
        if (isOutdated(failure as ApiProblem)) void queryClient.invalidateQueries();
        return undefined;
      } finally {
        running.current = false;
        setBusy(false);
      }
    },
  };
};

/** 128 random bits. `crypto.randomUUID` is not there without TLS. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

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

/**
 * Returns a function that POSTs a body to make something. It sends the same `Idempotency-Key` with the same body until that
 * worked, so that a double click, or a second attempt after a lost response, makes nothing twice.
 */
export const useCreate = () => {
  const keys = useRef(new Map<string, string>());
  return async <T>(path: string, body: object = {}): Promise<Reply<T>> => {
    const sent = JSON.stringify([path, body]);
    const idempotencyKey = keys.current.get(sent) ?? randomKey();
    keys.current.set(sent, idempotencyKey);
    const reply = await request<T>('POST', path, { body, idempotencyKey });
    keys.current.delete(sent);
    return reply;
  };
};
