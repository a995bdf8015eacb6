import type { IncomingHttpHeaders } from 'node:http';
import { pathOf } from './addresses.ts';

/** A page or file for a browser. */
export interface SiteResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
}

export interface SiteRequest {
  /** As it was sent, not decoded, and without the query. */
  path: string;
  hasQuery: boolean;
  headers: IncomingHttpHeaders;
  /** Resolves to the body of `GET path` for the same caller; null if the response is no 200. */
  read(path: string): Promise<string | null>;
}

/**
 * Returns the response for browsers at paths that no route has. Null: there is none for browsers either; the response
 * is then the 404.
 */
export type Site = (request: SiteRequest) => SiteResponse | null | Promise<SiteResponse | null>;

/** Paths below which every unknown path is a 404 in the error body, besides those of the routes. */
const programPaths = ['/healthz', '/readyz', '/metrics'];

/** Finds what the first of `sites` has for an unknown path; `reserved` are paths of programs. */
export const siteResponse = async (
  sites: readonly Site[],
  reserved: readonly string[],
  { method, url, headers }: { method: string; url: string; headers: IncomingHttpHeaders },
  read: SiteRequest['read'],
): Promise<SiteResponse | null> => {
  if (method !== 'GET' && method !== 'HEAD') return null;
  const path = pathOf(url);
  const isBelow = (other: string) => path === other || path.startsWith(`${other}/`);
  if (programPaths.some(isBelow) || reserved.some(isBelow)) return null;
  for (const site of sites) {
    const response = await site({ path, hasQuery: url.length > path.length, headers, read });
    if (response) return response;
  }
  return null;
};

/** The quality that `header` (`Accept`, `Accept-Encoding`) gives to `value` by its name; null if it does not name it. */
export const qualityOf = (header: string | undefined, value: string): number | null => {
  for (const part of header?.split(',') ?? []) {
    const [name = '', ...parameters] = part.split(';');
    if (name.trim().toLowerCase() !== value) continue;
    const q = parameters.map((one) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(one)?.[1]).find(Boolean);
    return q === undefined ? 1 : Number(q) || 0;
  }
  return null;
};
