import { useRef, useState } from 'react';
import type { ApiProblem } from './request.ts';

/** What `useAction` returns. */
export interface Action<A extends unknown[], T> {
  run: (...values: A) => Promise<T | undefined>;
  /** A run has not ended. */
  busy: boolean;
  error: ApiProblem | null;
  clear: () => void;
}

/**
 * A change that a person makes. `run` does nothing while a run has not ended, so that a double click changes nothing
 * twice; it resolves to undefined if the change failed, and `error` says why.
 */
export const useAction = <A extends unknown[], T>(perform: (...values: A) => Promise<T>): Action<A, T> => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiProblem | null>(null);
  const running = useRef(false);
  return {
    busy,
    error,
    clear: () => setError(null),
    run: async (...values) => {
      if (running.current) return undefined;
      running.current = true;
      setBusy(true);
      setError(null);
      try {
        return await perform(...values);
      } catch (failure) {
        setError(failure as ApiProblem);
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
