import type { z } from 'zod';
import { type CallerRequest, type Context, runHandler } from './context.ts';
import { type PartFailure, toPartFailure } from './failure.ts';
import { findFor, readQuery } from './given.ts';
import { describeOperation, queryParameters } from './operation-document.ts';
import {
  type Call,
  type Find,
  type Json,
  type Method,
  type Operation,
  type Route,
  routeOf,
} from './route.ts';
import { guardedStream } from './stream.ts';

export interface WebContext<F = unknown, Q = unknown> extends Context<F, Q> {
  method: string;
  /** The body as it was sent; undefined without one. */
  bytes: Buffer | undefined;
  /** Returns and logs the error of one part of the request, for a response that has one for each part. */
  failureOf(error: unknown): PartFailure;
}

/**
 * An operation that speaks a protocol of its own over HTTP: its handler reads the bytes of the body itself, and resolves
 * to the web Response (Fetch Standard) that is sent as it is. A stream in it ends early when the caller loses access.
 */
interface WebOperation<F, Q extends z.ZodType> extends Operation {
  find?: Find<F>;
  query?: Q;
  /** The body and the responses for the document, as no schema gives them. */
  document: { requestBody?: Json; responses: Json };
  /** Methods that reach the handler as well. The document does not list them. */
  moreMethods?: readonly Method[];
  /** Only a bearer token counts, no cookie: the route is for programs. */
  bearerOnly?: boolean;
  /** Throws 403 for a request whose headers forbid it, before the role is checked. */
  checkOrigin?: (request: CallerRequest) => void;
  handler: (context: WebContext<F, z.output<Q>>) => Promise<Response>;
}

/** Sends the web Response of a handler. If it is a stream, it is cut off once the caller loses access. */
const sendWeb = async (response: Response, { reply, recheck }: Call, stop: () => void): Promise<void> => {
  const { status, headers, body } = response;
  reply.code(status).headers(Object.fromEntries(headers)).removeHeader('connection');
  if (body === null) reply.send();
  else if (headers.get('content-type') === 'text/event-stream') {
    reply.send(guardedStream(body, recheck, stop));
  } else reply.send(Buffer.from(await response.arrayBuffer()));
};

export const webRoute = <F = undefined, Q extends z.ZodType = z.ZodType<undefined>>(
  operation: WebOperation<F, Q>,
): Route => {
  const { find, query, document, moreMethods = [], bearerOnly = false, checkOrigin, handler } = operation;
  return routeOf(operation, {
    ...(find && { find }),
    admission: { bearerOnly, ...(checkOrigin && { checkOrigin }) },
    moreMethods,
    serve: async (call) => {
      const { request, log } = call;
      const given = { found: await findFor(find, request), query: readQuery(query, request) };
      const own = {
        method: request.method,
        bytes: request.body as Buffer | undefined,
        failureOf: (error: unknown) => toPartFailure(log, error, request),
      };
      const { result, stop } = await runHandler<WebContext<F, z.output<Q>>, Response>(
        call,
        given,
        own,
        handler,
      );
      await sendWeb(result, call, stop);
    },
    describe: (components, tags) =>
      describeOperation(operation, tags, {
        query: queryParameters(query, components),
        ...(document.requestBody && { requestBody: document.requestBody }),
        success: document.responses,
        failures: query ? [422] : [],
      }),
  });
};
