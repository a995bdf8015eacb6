import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../lib/errors.ts';
import { baseOf, bases, pathOf } from './addresses.ts';
import type { Callers } from './callers.ts';
import type { RouteGroup } from './route.ts';
import { siteResponse } from './site.ts';

const pathPattern = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

/** The headers that say who calls, and from which page. */
const callerHeaders = ['cookie', 'host', 'origin', 'sec-fetch-site', 'user-agent'];

/** Reads an operation as the caller of `request`, without a connection. */
const readAs =
  (app: FastifyInstance, { headers, ip }: FastifyRequest) =>
  async (url: string): Promise<string | null> => {
    const own = Object.fromEntries(
      callerHeaders.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])),
    );
    const { statusCode, payload } = await app.inject({ url, headers: own, remoteAddress: ip });
    return statusCode === 200 ? payload : null;
  };

/**
 * Refuses unknown paths before their body is read: 404 with the methods of the path, under a base only with a key.
 * Browsers get what the sites of the groups have there.
 */
export const refuseUnknownPaths = (
  app: FastifyInstance,
  groups: readonly RouteGroup[],
  { authenticate, limitRate }: Callers,
): void => {
  const routes = groups.flatMap((group) => group.routes ?? []);
  const sites = groups.flatMap((group) => group.site ?? []);
  const reserved = [
    ...bases,
    ...groups.flatMap(({ rawRoutes = [] }) => rawRoutes.flatMap((raw) => raw.paths)),
    ...groups.flatMap(({ hooks = [] }) => hooks.map(({ path }) => path.slice(0, path.indexOf('/{')))),
  ];
  const patterns = routes.flatMap((route) =>
    route.bases.map((base) => ({ pattern: pathPattern(base + route.path), method: route.method })),
  );
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const page = await siteResponse(sites, reserved, request, readAs(app, request));
    if (page) {
      request.operation = 'site';
      return reply.code(page.status).headers(page.headers).send(page.body);
    }
    const path = pathOf(request.url);
    const base = baseOf(path);
    if (base) limitRate(await authenticate(request, true), reply.header.bind(reply));
    const methods = patterns.filter((p) => p.pattern.test(path)).map((p) => p.method as string);
    if (path === base) methods.push('GET');
    throw new ApiError(
      'not_found',
      methods.length > 0
        ? `There is no ${request.method} here. The methods of this path are: ${[...new Set(methods)].join(', ')}.`
        : `There is nothing at this path.${base ? ` GET ${base} describes what there is.` : ''}`,
    );
  });
};
