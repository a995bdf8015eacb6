import type { z } from 'zod';
import { type Context, runHandler, type SetHeader } from './context.ts';
import { type BodySpec, bodySpecOf, findFor, readGiven } from './given.ts';
import { bodyDocument, describeOperation, queryParameters } from './operation-document.ts';
import { type Find, type Operation, type Route, routeOf } from './route.ts';
import { guardedStream } from './stream.ts';

export interface StreamContext<F = unknown, Q = unknown, B = unknown> extends Context<F, Q> {
  body: B;
  header: SetHeader;
}

type Chunks = AsyncIterable<string | Uint8Array>;

/** An operation whose response is streamed. The stream ends early when the caller loses access. */
interface StreamOperation<F, Q extends z.ZodType, B extends z.ZodType> extends Operation {
  find?: Find<F>;
  query?: Q;
  body?: B | BodySpec<B>;
  /** The media type of the response. */
  type: string;
  /** The name under which a browser saves the stream as a file. */
  saveAs?: string;
  /** Nothing may store the response: it says who has access. */
  cache?: 'never';
  /** The handler may resolve to null, which is a 204 without a body. */
  orNothing?: boolean;
  handler: (context: StreamContext<F, z.output<Q>, z.output<B>>) => Promise<Chunks | null>;
}

export const streamRoute = <
  F = undefined,
  Q extends z.ZodType = z.ZodType<undefined>,
  B extends z.ZodType = z.ZodType<undefined>,
>(
  operation: StreamOperation<F, Q, B>,
): Route => {
  const { find, query, type, saveAs, cache, orNothing, handler } = operation;
  const spec = bodySpecOf(operation.body as z.ZodType | BodySpec | undefined);
  return routeOf(operation, {
    ...(find && { find }),
    admission: { noStore: cache === 'never' },
    serve: async (call) => {
      const { request, reply, recheck } = call;
      const found = await findFor(find, request);
      const given = await readGiven(query, spec, request);
      const header: SetHeader = (name, value) => void reply.header(name, value);
      const { result, stop } = await runHandler<StreamContext<F, z.output<Q>, z.output<B>>, Chunks | null>(
        call,
        { found, query: given.query },
        { body: given.body as z.output<B>, header },
        handler,
      );
      if (result === null) return void reply.code(204).send();
      if (saveAs) reply.header('content-disposition', `attachment; filename="${saveAs}"`);
      reply.header('content-type', type).send(guardedStream(result, recheck, stop));
    },
    describe: (components, tags) =>
      describeOperation(operation, tags, {
        query: queryParameters(query, components),
        ...bodyDocument(spec, components),
        success: {
          200: { description: 'Success.', content: { [type]: { schema: { type: 'string' } } } },
          ...(orNothing ? { 204: { description: 'There is nothing to send.' } } : {}),
        },
        failures: spec || query ? [422] : [],
      }),
  });
};
