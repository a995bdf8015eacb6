import { z } from 'zod';
import type { BodySpec } from './given.ts';
import { toSchema } from './openapi-schema.ts';
import { type Json, type Operation, requestOf } from './route.ts';
import { type Responses, responseOf } from './send-json.ts';

const errorDescriptions: Record<number, string> = {
  400: 'Malformed request, missing required parameters, or a rule whose violation is a 400.',
  401: 'Missing or invalid API key.',
  403: 'The key is not allowed to perform the operation.',
  404: 'The resource does not exist.',
  412: 'The resource is not in a state that allows the operation, or is not the version that If-Match names.',
  422: 'Well-formed request that fails validation; `details` names each fault.',
  429: 'Too many requests; try again after `Retry-After` seconds.',
  500: 'Server error; retry with backoff.',
  503: 'Temporarily unavailable; try again after `Retry-After` seconds.',
};

const header = (name: string, description: string, schema: Json = {}): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...schema },
});

export const idempotencyKeyParameter = header(
  'Idempotency-Key',
  'A request with the same key within 24 h returns the first response again instead of doing the work twice.',
  { minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
);
export const ifNoneMatchParameter = header(
  'If-None-Match',
  'The ETag of an earlier response: if nothing has changed since, it is 304.',
);
export const ifMatchParameter = header(
  'If-Match',
  'The resource is changed only if this is its ETag; otherwise 412.',
);

/** The parameters of a query string. */
export const queryParameters = (schema: z.ZodType | undefined, components: Json): Json[] => {
  const query = schema ? toSchema(schema, 'input', components) : {};
  const required = (query.required as string[] | undefined) ?? [];
  return Object.entries((query.properties as Record<string, Json> | undefined) ?? {}).map(
    ([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      ...(description ? { description } : {}),
      schema,
    }),
  );
};

/** The request body of a route that takes JSON; `form`: or a form, with this content. */
export const bodyDocument = (spec: BodySpec | undefined, components: Json, form: Json = {}): Json =>
  spec
    ? {
        requestBody: {
          required: !spec.optional,
          content: { ...form, 'application/json': { schema: toSchema(spec.schema, 'input', components) } },
        },
      }
    : {};

const jsonContent = (schema: z.ZodType, components: Json): Json => ({
  content: { 'application/json': { schema: toSchema(schema, 'output', components) } },
});

const etagHeader = (description: string): Json => ({
  headers: { ETag: { description, schema: { type: 'string' } } },
});
export const contentEtag = etagHeader('Changes with the content of the response.');
export const notModified = (description: string): Json => ({ description, ...contentEtag });

/** The successes of a route that responds with JSON. */
export const jsonResponses = (
  responses: Responses<z.ZodType> | undefined,
  tag: unknown,
  components: Json,
): Json => {
  const { status, schema, mayAccept } = responseOf(responses);
  if (!schema) return { 204: { description: 'Success, no body.' } };
  const isNullable = schema instanceof z.ZodNullable;
  const content = jsonContent(isNullable ? (schema.unwrap() as z.ZodType) : schema, components);
  const isContent = tag === 'content';
  return {
    [status]: {
      description: status === 201 ? 'Created.' : 'Success.',
      ...(tag === 'revision' ? etagHeader('The revision of the resource.') : {}),
      ...(isContent ? contentEtag : {}),
      ...content,
    },
    ...(mayAccept ? { 202: { description: 'Accepted: it goes on after the response.', ...content } } : {}),
    ...(isNullable ? { 204: { description: 'There is nothing to send.' } } : {}),
    ...(isContent
      ? { 304: notModified('Nothing has changed since the response that If-None-Match names.') }
      : {}),
  };
};

export const permissionOf = ({ role, scope }: Pick<Operation, 'role' | 'scope'>): Json =>
  role === 'anyone'
    ? { security: [] }
    : { 'x-required-role': role, ...(scope === null ? {} : { 'x-required-scope': scope }) };

/** The statuses of failures: those that every request can have, and `more`. */
const failuresOf = (operation: Operation, more: readonly number[]): number[] => {
  const { method, path } = requestOf(operation);
  return [
    ...(operation.role === 'anyone' ? [] : [401, 403]),
    ...[429, 500, 503],
    ...(operation.otherStatuses ?? []),
    ...(path.includes('{') ? [404] : []),
    // The size and Content-Type of every body are checked, even if none is expected.
    ...(method === 'GET' ? [] : [400]),
    ...more,
  ];
};

/** The part of an operation's description that its kind gives. */
interface Described {
  query?: Json[];
  headers?: Json[];
  requestBody?: Json;
  success: Json;
  /** Statuses of failures besides those of every request. */
  failures: readonly number[];
  /** Failures are pages for browsers. */
  hasPage?: boolean;
}

/** Returns the operation of the OpenAPI document. */
export const describeOperation = (
  operation: Operation,
  tags: string[],
  { query = [], headers = [], requestBody, success, failures, hasPage }: Described,
): Json => {
  const inPath = [...operation.request.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const failure = (status: number) => ({
    description: errorDescriptions[status],
    content: {
      'application/json': { schema: { $ref: '#/components/schemas/Error' } },
      ...(hasPage ? { 'text/html': { schema: { type: 'string' } } } : {}),
    },
  });
  return {
    operationId: operation.id,
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    tags,
    ...permissionOf(operation),
    parameters: [...inPath, ...query, ...headers],
    ...(requestBody && { requestBody }),
    responses: {
      ...Object.fromEntries(failuresOf(operation, failures).map((status) => [status, failure(status)])),
      ...success,
    },
  };
};
