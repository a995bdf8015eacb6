import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { badRequest } from '../lib/errors.ts';
import { isObject } from '../lib/objects.ts';
import type { Principal } from '../lib/principal.ts';
import type { Find } from './route.ts';
import { type JsonBody, readJson, validate } from './validate.ts';

/** A JSON body whose schema is not all there is to say of it. */
export interface BodySpec<B extends z.ZodType = z.ZodType> {
  schema: B;
  /** The request may have no body. */
  optional?: boolean;
  /**
   * Checks a well-formed body for faults that its schema cannot find and that are a 400 (payload size). It runs before
   * the schema, because 400 wins over 422. Also for a 403 that depends on the body. Throws an ApiError.
   */
  precheck?: (body: Record<string, unknown>, principal: Principal) => Promise<void> | void;
  /** Fields whose every fault is a 400 instead of a 422, because the description of the API says so. */
  badRequestFields?: readonly string[];
  /** The list whose items the handler checks one by one (`validate`), so that a bad one is not a fault of the others. */
  partsField?: string;
}

export const bodySpecOf = (body: z.ZodType | BodySpec | undefined): BodySpec | undefined =>
  body instanceof z.ZodType ? { schema: body } : body;

export const findFor = async <F>(
  find: Find<F> | undefined,
  { params, principal }: FastifyRequest,
): Promise<F | undefined> => find?.({ params: params as Record<string, string>, principal: principal! });

export const readQuery = (schema: z.ZodType | undefined, { query }: FastifyRequest): unknown =>
  schema && validate(schema, { ...(query as object) }, 'query');

/** Returns the JSON of a request to a route with a body. Throws 400 if it cannot be read. */
export const readRaw = (
  spec: BodySpec | undefined,
  { headers, body }: FastifyRequest,
): JsonBody | undefined =>
  spec && readJson(body as Buffer | undefined, headers['content-type'], headers['content-encoding']);

export const readBody = async (
  spec: BodySpec | undefined,
  given: JsonBody | undefined,
  principal: Principal,
): Promise<unknown> => {
  if (!spec) return undefined;
  if (given === undefined && !spec.optional) {
    throw badRequest('A JSON body is required, with Content-Type: application/json.');
  }
  const { value, storable } = given ?? { value: {}, storable: true };
  if (isObject(value)) await spec.precheck?.(value, principal);
  return validate(spec.schema, value, 'body', spec.badRequestFields, spec.partsField, storable);
};

/** Reads query and body. Bodies that are no JSON come before faults of the query. */
export const readGiven = async (
  query: z.ZodType | undefined,
  body: BodySpec | undefined,
  request: FastifyRequest,
): Promise<{ raw: unknown; query: unknown; body: unknown }> => {
  const raw = readRaw(body, request);
  const given = readQuery(query, request);
  return { raw: raw?.value, query: given, body: await readBody(body, raw, request.principal!) };
};
