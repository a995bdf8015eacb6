import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { badRequest } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';

/** A path under which routes are served. */
export type Base = '/api/v2' | '/api/v1' | '/app/api';
export const bases: readonly Base[] = ['/api/v2', '/api/v1', '/app/api'];

/** A tenant's name before `/api`: the older form of the address, which is served like the shorter one. */
const tenantPrefix = /^\/(?:tenants\/)?(?!(?:app|tenants)\/)[^/]+(?=\/api(?:\/|$))/;

/**
 * Returns `url` in the form that the router expects: without a tenant's prefix and trailing slashes. If the path has a
 * `%` that starts no valid escape, every `%` is taken literally, so that such an id is unknown and not malformed HTTP.
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
  // Not a regular expression: on slashes that do not end the path it takes time in the square of their number.
  let length = path.length;
  while (path[length - 1] === '/') length--;
  path = path.slice(0, length);
  return (path === '' ? '/' : path) + rest;
};

/** The path of a request's address, without its query. */
export const pathOf = (url: string): string => url.split('?', 1)[0]!;

/** The base that `path` is or is below, if any. */
export const baseOf = (path: string): Base | undefined =>
  bases.find((base) => path === base || path.startsWith(`${base}/`));

/** The token of `Authorization: Bearer …` (RFC 6750); undefined without the header, `''` if it is malformed. */
export const bearerToken = (authorization: string | undefined): string | undefined => {
  if (authorization === undefined) return undefined;
  return /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1] ?? '';
};

/** The number of Host headers. Node keeps the first of several, and a request must have one (RFC 9112, 3.2). */
export const hostsIn = (rawHeaders: readonly string[]): number => {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++;
  }
  return hosts;
};

/** The id of a request: its `X-Request-Id` of 1 to 128 visible ASCII characters, or a new one. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : newId();
};

/** The address of a client as it may be stored; a trusted proxy can forward any text instead of an address. */
export const clientAddress = (ip: string): string => (isIP(ip) === 0 ? 'unknown' : ip);

/**
 * The network whose requests are counted together: an IPv4 address, or the /64 of an IPv6 address, which is the least
 * that one customer of a provider has (RFC 6177).
 */
export const networkOf = (ip: string): string => {
  if (!ipaddr.isValid(ip)) return 'unknown';
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  return `${ipaddr.fromByteArray([...address.toByteArray().slice(0, 8), ...Array(8).fill(0)])}/64`;
};

/** The value of a header that may be sent once. Throws 400 if it was sent more often. */
export const oneHeader = (value: string | string[] | undefined, name: string): string | undefined => {
  if (Array.isArray(value)) throw badRequest(`The header ${name} must be sent once.`);
  return value;
};
