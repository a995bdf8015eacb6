import { ApiError } from '../lib/errors.ts';

/** The entity tag of a revision (RFC 9110, 8.8.3). */
export const etagOf = (revision: number): string => `"${revision}"`;

/**
 * Throws 412 unless `ifMatch` (RFC 9110, 13.1.1), if given, names the revision: `*` or a list of strong entity tags.
 */
export const checkIfMatch = (ifMatch: string | undefined, revision: number): void => {
  if (ifMatch === undefined) return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes('*') || tags.includes(etagOf(revision))) return;
  throw new ApiError(
    'precondition_failed',
    'The resource was changed since the version that If-Match names. Read it again and repeat the change.',
  );
};
