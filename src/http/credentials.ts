import type { IncomingHttpHeaders } from 'node:http';
import { bearerToken } from './addresses.ts';

/** The caller of a request, as the request describes them. */
export interface Credentials {
  /** The bearer token; undefined without the header, `''` if it is malformed. */
  token: string | undefined;
  /** The header `Cookie`; undefined where cookies do not count. */
  cookie: string | undefined;
  /** True if the request comes from a page of this server; see `isOwnPage`. */
  ownPage: boolean;
  /** The address of the client, behind trusted proxies. */
  ip: () => string;
  userAgent: string | null;
  /** A check of an open stream, which is no request: the idle time of its session goes on. */
  recheck?: boolean;
}

/** The parts of a request that credentials are read from. */
export interface CallingRequest {
  method: string;
  headers: IncomingHttpHeaders;
  ip: () => string;
  /** `https://host`, by the request's own scheme and Host. */
  origin: () => string;
}

/**
 * Returns whether a request comes from a page of this server, so that its cookie counts, by Fetch Metadata (W3C,
 * section 3) and Origin (RFC 6454): as `http.CrossOriginProtection` of Go 1.25, but for reads as well, and not for
 * sites of the same domain. Without both headers only a read is taken: no browser that people use sends neither with a
 * change.
 */
export const isOwnPage = (
  { method, headers, origin }: Pick<CallingRequest, 'method' | 'headers' | 'origin'>,
  publicOrigin: () => string,
): boolean => {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (headers.origin !== undefined) return headers.origin === publicOrigin() || headers.origin === origin();
  return method === 'GET' || method === 'HEAD';
};

/** Returns the credentials of a request. `cookies`: whether a cookie counts. */
export const credentialsOf = (
  request: CallingRequest,
  publicOrigin: () => string,
  cookies: boolean,
): Credentials => {
  const { authorization, cookie, 'user-agent': userAgent } = request.headers;
  return {
    token: bearerToken(authorization),
    cookie: cookies ? cookie : undefined,
    ownPage: cookies && isOwnPage(request, publicOrigin),
    ip: request.ip,
    userAgent: userAgent ?? null,
  };
};
