import { ApiError } from '../lib/errors.ts';

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/;

const isAllowed = (origin: string, publicUrl: string, host: string): boolean => {
  const given = URL.parse(origin);
  if (given === null || given.origin !== origin) return false;
  return origin === new URL(publicUrl).origin || (loopback.test(host) && loopback.test(given.hostname));
};

/**
 * Throws 403 for a page that may not use the endpoint, against DNS rebinding. It may be one of `publicUrl`, and a local
 * one if the platform listens on a loopback address only.
 */
export const checkOrigin = (origin: string | undefined, publicUrl: string, host: string): void => {
  if (origin === undefined || isAllowed(origin, publicUrl, host)) return;
  throw new ApiError('forbidden', 'Pages of this origin may not send this request.');
};
