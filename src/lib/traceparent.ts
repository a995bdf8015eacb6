import { randomBytes } from 'node:crypto';

/** Version, trace id, parent id, flags, and additions of later versions (https://www.w3.org/TR/trace-context/). */
const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** The length of version 00, and of the known part of a later version. */
const knownLength = 55;

const sampled = 1;

/**
 * Returns the header `traceparent` as version 00; undefined if it is malformed. Of the flags of a later version only
 * `sampled` is known, so only that flag is kept.
 */
export const parseTraceparent = (header: string | string[] | undefined): string | undefined => {
  if (typeof header !== 'string' || !pattern.test(header)) return undefined;
  if (header.startsWith('00')) return header.length === knownLength ? header : undefined;
  const flags = Number.parseInt(header.slice(knownLength - 2, knownLength), 16) & sampled;
  return `00${header.slice(2, knownLength - 2)}0${flags}`;
};

/** Returns the traceparent of a response without a span: the caller's, or that of a new trace. */
export const newTraceparent = (given: string | undefined): string =>
  given ?? `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`;
