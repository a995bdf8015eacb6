import { sha256 } from '../lib/crypto.ts';
import { ApiError } from '../lib/errors.ts';

/** The entity tag of a revision (RFC 9110, 8.8.3). */
export const etagOf = (revision: number): string => `"${revision}"`;

/** The weak entity tag of a response that has no revision: equal for equal `content`. */
export const contentTag = (content: unknown): string => `W/"${sha256(JSON.stringify(content)).slice(0, 32)}"`;

/** Returns whether `ifNoneMatch` (RFC 9110, 13.1.2) names `tag`. The comparison is weak. */
export const matchesTag = (ifNoneMatch: string | undefined, tag: string): boolean => {
  const opaque = (one: string) => one.trim().replace(/^W\//, '');
  const tags = ifNoneMatch?.split(',').map(opaque) ?? [];
  return tags.includes('*') || tags.includes(opaque(tag));
};

/** A locked resource. `errorContext`: the fields of the 412 next to its message. */
export interface Locked {
  revision: number;
  errorContext?: Record<string, unknown>;
}

/** Throws 412 unless `ifMatch` (RFC 9110, 13.1.1), if given, is `*` or a list of strong tags with that of the revision. */
export const checkIfMatch = (ifMatch: string | undefined, { revision, errorContext = {} }: Locked): void => {
  if (ifMatch === undefined) return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes('*') || tags.includes(etagOf(revision))) return;
  throw new ApiError(
    'precondition_failed',
    'The resource was changed since the version that If-Match names. Read it again and repeat the change.',
    errorContext,
  );
};
