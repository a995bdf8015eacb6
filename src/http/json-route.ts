import type { z } from 'zod';
import { bodySpecOf } from './given.ts';
import type { AnyJsonOperation, JsonOperation } from './json-operation.ts';
import {
  bodyDocument,
  describeOperation,
  idempotencyKeyParameter,
  ifMatchParameter,
  ifNoneMatchParameter,
  jsonResponses,
  queryParameters,
} from './operation-document.ts';
import { type Json, type Route, routeOf } from './route.ts';
import { serveJson } from './serve-json.ts';

const describeJson = (spec: AnyJsonOperation, components: Json, tags: string[]): Json => {
  const { query, body, cache, idempotent, lock } = spec;
  const hasContentTag = cache === 'content' || typeof cache === 'function';
  return describeOperation(spec, tags, {
    query: queryParameters(query, components),
    headers: [
      ...(idempotent ? [idempotencyKeyParameter] : []),
      ...(hasContentTag ? [ifNoneMatchParameter] : []),
      ...(lock ? [ifMatchParameter] : []),
    ],
    ...bodyDocument(bodySpecOf(body), components),
    success: jsonResponses(spec.response, hasContentTag ? 'content' : cache, components),
    failures: [...(body || query || idempotent ? [422] : []), ...(lock ? [412] : [])],
  });
};

/** An operation with JSON in and out. */
export const jsonRoute = <
  F = undefined,
  Q extends z.ZodType = z.ZodType<undefined>,
  B extends z.ZodType = z.ZodType<undefined>,
  A extends z.ZodType = z.ZodType,
  L = undefined,
>(
  spec: JsonOperation<F, Q, B, A, L>,
): Route => {
  const any = spec as unknown as AnyJsonOperation;
  if (spec.role === 'anyone' && spec.body) throw new Error(`${spec.id}: a body of anyone needs a limit`);
  return routeOf(any, {
    find: typeof any.find === 'object' ? any.find.ifRefused : any.find,
    admission: { noStore: any.cache === 'never' },
    serve: (call) => serveJson(any, call),
    describe: (components, tags) => describeJson(any, components, tags),
  });
};
