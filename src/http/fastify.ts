import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { badRequest } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { Principal } from '../lib/principal.ts';
import { hostsIn, normalizeUrl, requestIdOf } from './addresses.ts';
import { bodyLimit, RequestBodies } from './bodies.ts';
import type { CallerParts } from './callers.ts';
import { closeAfterBody, refuseConnection, sendFailure } from './failure.ts';
import { responseHeaders } from './response-headers.ts';
import { isForm } from './upload.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    response: ServerResponse | null;
    /** For the metrics, if the route does not tell it. */
    operation: string | null;
  }
}

/** A Fastify that sends every refusal as an error body, and that limits time, size and headers. It has no routes. */
export const createFastify = (
  log: Logger,
  { trustProxy, publicUrl = () => '' }: Partial<Pick<CallerParts, 'trustProxy' | 'publicUrl'>> = {},
): FastifyInstance => {
  const app: FastifyInstance = Fastify({
    logger: false,
    bodyLimit,
    trustProxy: trustProxy?.length ? trustProxy : false,
    rewriteUrl: (request) => normalizeUrl(request.url ?? '/'),
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: 10_000 },
    forceCloseConnections: 'idle',
    // A request on an open connection is still served while the server closes. Fastify's own 503 has no Retry-After.
    return503OnClosing: false,
    requestTimeout: 60_000,
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) =>
      void sendFailure(log, error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler(error, socket) {
      const { code } = error as NodeJS.ErrnoException;
      if (!socket.writable || code === 'ECONNRESET') socket.destroy();
      else refuseConnection(socket, responseHeaders(publicUrl()), code);
    },
  });
  // Node would close a CONNECT without a response, and refuse an unknown expectation without a body.
  app.server.on('connect', (_request, socket) => refuseConnection(socket, responseHeaders(publicUrl())));
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.setErrorHandler((error, request, reply) => {
    closeAfterBody(request, reply);
    return sendFailure(log, error, request, reply);
  });
  app.decorateRequest('principal', null);
  app.decorateRequest('response', null);
  app.decorateRequest('operation', null);
  readBodiesUnparsed(app);
  app.addHook('onRequest', async (request, reply) => {
    request.response = reply.raw;
    reply.header('x-request-id', request.id).headers(responseHeaders(publicUrl()));
    checkHost(request.raw);
  });
  return app;
};

interface BodyConfig {
  upload?: 'form' | 'formOrJson';
  /** In bytes. */
  largestBody?: number;
}

/** Returns whether the body is a form that the route reads itself. */
const isUpload = ({ upload }: BodyConfig, contentType: string | undefined): boolean =>
  upload === 'form' || (upload === 'formOrJson' && isForm(contentType));

/** The body is parsed after the 404s of what the path names, so Fastify only reads it. */
const readBodiesUnparsed = (app: FastifyInstance): void => {
  const bodies = new RequestBodies();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const config = request.routeOptions.config as BodyConfig;
    if (isUpload(config, request.headers['content-type'])) return undefined;
    return bodies.read(payload, request.response!, config.largestBody);
  });
};

/** Node would refuse a request without Host without a body, and accept one with several. */
const checkHost = ({ rawHeaders, httpVersion }: IncomingMessage): void => {
  const hosts = hostsIn(rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    throw badRequest('The request is not valid HTTP: it must have one header Host.');
  }
};
