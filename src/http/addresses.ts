import { badRequest } from '../lib/errors.ts';

/** The bases under which routes are served. */
export type Base = '/api/v2' | '/api/v1' | '/app/api';
export const bases: readonly Base[] = ['/api/v2', '/api/v1', '/app/api'];

/** A tenant's name before `/api`: the older form of the address, served like the shorter one. */
const tenantPrefix = /^\/(?:tenants\/)?(?!(?:app|tenants)\/)[^/]+(?=\/api(?:\/|$))/;

/**
 * The url as the router wants it: without a tenant's prefix and trailing slashes, and with a `%` that starts
 * no valid escape taken as itself, so that such an id is unknown and not malformed HTTP.
 */
export const normalizeUrl = (url: string): string => {
  const end = url.search(/[?#]/);
  let path = end === -1 ? url : url.slice(0, end);
  const rest = end === -1 ? '' : url.slice(end);
  try {
    decodeURIComponent(path);
  } catch {
    path = path.replaceAll('%', '%25');
  }
  path = path.replace(tenantPrefix, '');
  // Not by a pattern: on slashes that do not end the path one takes time in the square of their number.
  let length = path.length;
  while (path[length - 1] === '/') length--;
  path = path.slice(0, length);
  return (path === '' ? '/' : path) + rest;
};

/** The path of a request's address, without its query. */
export const pathOf = (url: string): string => url.split('?', 1)[0]!;

/** The base that `path` lies under, if any. */
export const baseOf = (path: string): Base | undefined =>
  bases.find((base) => path === base || path.startsWith(`${base}/`));

/** The token of `Authorization: Bearer …`; undefined without the header. */
export const bearerToken = (authorization: string | undefined): string | undefined => {
  if (authorization === undefined) return undefined;
  return /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1] ?? '';
};

/** How many headers Host came: Node keeps the first of several, and a request must have one (RFC 9112, 3.2). */
export const hostsIn = (rawHeaders: readonly string[]): number => {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++;
  }
  return hosts;
};

/** One value of a header that may come once; 400 where it came more often. */
export const oneHeader = (value: string | string[] | undefined, name: string): string | undefined => {
  if (Array.isArray(value)) throw badRequest(`The header ${name} must be sent once.`);
  return value;
};
