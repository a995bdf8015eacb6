import { ApiProblem } from './request.ts';

/** 128 random bits. `crypto.randomUUID` is not there without TLS. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

/** The `Idempotency-Key` of each request whose outcome is not known. */
const keys = new Map<string, string>();

/** Tells if the request may have done its work although it failed. */
const mayBeDone = (error: unknown): boolean =>
  !(error instanceof ApiProblem) || error.status === 0 || error.status === 409 || error.status >= 500;

/**
 * Sends a request with an `Idempotency-Key`: the same one for the same `content` until its outcome is known, so that a
 * second attempt after a lost response does nothing twice.
 */
export const withKey = async <T>(content: string, send: (key: string) => Promise<T>): Promise<T> => {
  const key = keys.get(content) ?? randomKey();
  keys.set(content, key);
  try {
    const reply = await send(key);
    keys.delete(content);
    return reply;
  } catch (error) {
    if (!mayBeDone(error)) keys.delete(content);
    throw error;
  }
};
