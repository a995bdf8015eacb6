import { z } from 'zod';
import type { ErrorCode } from '../lib/errors.ts';
import { errorStatus } from '../lib/errors.ts';
import { isObject } from '../lib/objects.ts';
import type { Base } from './addresses.ts';
import { anyContent } from './download.ts';
import { basesOf, type Route, type RouteGroup } from './route.ts';
import { uploadBody } from './upload.ts';

type Json = Record<string, unknown>;

/** The OpenAPI document of one base, as a value and as the JSON text that is served. */
export interface ApiDocument {
  value: Json;
  text: string;
}

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

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['error_id', 'code', 'message'],
      properties: {
        error_id: {
          type: 'string',
          format: 'uuid',
          description: 'Unique per occurrence; find it in the logs.',
        },
        code: { type: 'string', enum: Object.keys(errorStatus) satisfies string[] as ErrorCode[] },
        message: { type: 'string' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['path', 'message'],
            properties: { path: { type: 'string' }, message: { type: 'string' } },
          },
        },
      },
      additionalProperties: true,
    },
  },
};

/** Returns the JSON Schema of `schema`. Named schemas (`.meta({ id })`) go to `components` and are referenced. */
const toSchema = (schema: z.ZodType, io: 'input' | 'output', components: Json): Json => {
  const {
    $schema: _,
    $defs,
    ...own
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // Later releases may send more fields, which a client's generated types must accept.
      if ((jsonSchema as Json).additionalProperties === false)
        delete (jsonSchema as Json).additionalProperties;
      // Zod leaves out the `default` of a transformed schema.
      const { fallback } = jsonSchema as Json;
      if (fallback !== undefined) {
        delete (jsonSchema as Json).fallback;
        (jsonSchema as Json).default = fallback;
      }
      // openapi-python-client takes no object as a default, and leaves out every operation with one in its body.
      if (isObject(jsonSchema.default)) delete jsonSchema.default;
      const described = (jsonSchema as Json).openapi as Json | z.ZodType | undefined;
      if (!described) return;
      const given = described instanceof z.ZodType ? toSchema(described, io, components) : described;
      const { description } = jsonSchema;
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Json)[key];
      Object.assign(jsonSchema, description ? { description, ...given } : given);
    },
  }) as Json & { $defs?: Json };
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, item]) => {
        // The name is the key of the component.
        if (key === 'id' && typeof item === 'string' && $defs?.[item]) return [];
        if (key === '$ref' && typeof item === 'string')
          return [[key, item.replace('#/$defs/', '#/components/schemas/')]];
        return [[key, moved(item)]];
      }),
    );
  };
  for (const [name, definition] of Object.entries($defs ?? {})) components[name] = moved(definition);
  const name = (own as { id?: string }).id;
  if (typeof name === 'string' && !own.$ref) {
    const { id: _id, ...rest } = moved(own) as Json;
    components[name] = rest;
    return { $ref: `#/components/schemas/${name}` };
  }
  return moved(own) as Json;
};

/** Returns the JSON Schema (2020-12) of a schema without names, as the document would describe it. */
export const jsonSchemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => toSchema(schema, io, {});

/**
 * A create takes no If-Match: nothing exists yet that could have changed. It has an Idempotency-Key, or is a POST
 * without `find`.
 */
const takesIfMatch = ({ etag, method, idempotent, find }: Route): boolean =>
  etag === true && method !== 'GET' && !idempotent && (method !== 'POST' || find !== undefined);

const parametersOf = (route: Route, components: Json): Json[] => {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const query = route.query ? toSchema(route.query, 'input', components) : {};
  const required = (query.required as string[] | undefined) ?? [];
  const inQuery = Object.entries((query.properties as Record<string, Json> | undefined) ?? {}).map(
    ([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      ...(description ? { description } : {}),
      schema,
    }),
  );
  const header = (name: string, description: string, schema: Json = {}) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', ...schema },
  });
  return [
    ...inPath,
    ...inQuery,
    ...(route.idempotent
      ? [
          header(
            'Idempotency-Key',
            'A request with the same key within 24 h returns the first response again instead of doing the work twice.',
            { minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
          ),
        ]
      : []),
    ...(route.conditional || route.download
      ? [header('If-None-Match', 'The ETag of an earlier response: if nothing has changed since, it is 304.')]
      : []),
    ...(takesIfMatch(route)
      ? [header('If-Match', 'The resource is changed only if this is its ETag; otherwise 412.')]
      : []),
  ];
};

const statusesOf = (route: Route): number[] => {
  const refusals = route.role === 'anyone' ? [429] : [401, 403, 429];
  const statuses = new Set<number>([...refusals, 500, 503, ...(route.otherStatuses ?? [])]);
  if (route.path.includes('{')) statuses.add(404);
  // The size and Content-Type of every body are checked, even if none is expected.
  if (route.method !== 'GET') statuses.add(400);
  if (route.body) statuses.add(422);
  if (route.query && !route.anyQuery) statuses.add(422);
  if (route.idempotent) statuses.add(422);
  if (takesIfMatch(route)) statuses.add(412);
  return [...statuses].sort();
};

const success: Record<number, string> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success, no body.',
  303: 'A redirect, no body.',
};

const permissionOf = ({ role, scope }: Pick<Route, 'role' | 'scope'>): Json =>
  role === 'anyone'
    ? { security: [] }
    : { 'x-required-role': role, ...(scope === null ? {} : { 'x-required-scope': scope }) };

const bodyOf = ({ body, bodyType, bodyOptional, upload }: Route, components: Json): Json => {
  const form = upload && uploadBody(upload);
  if (!body) return form ? { requestBody: form } : {};
  const type = bodyType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  return {
    requestBody: {
      required: !bodyOptional,
      content: { ...(form?.content as Json), [type]: { schema: toSchema(body, 'input', components) } },
    },
  };
};

const contentOf = ({ response, stream, download }: Route, components: Json): Json => {
  if (download) return anyContent;
  if (stream) return { content: { [stream]: { schema: { type: 'string' } } } };
  if (!response) return {};
  return { content: { 'application/json': { schema: toSchema(response, 'output', components) } } };
};

const etagHeader = (description: string): Json => ({
  headers: { ETag: { description, schema: { type: 'string' } } },
});
const contentEtag = etagHeader('Changes with the content of the response.');

const successOf = (route: Route, components: Json): Json => ({
  [route.status ?? 200]: {
    description: success[route.status ?? 200],
    ...(route.etag && route.status !== 204 ? etagHeader('The revision of the resource.') : {}),
    ...(route.conditional || route.download ? contentEtag : {}),
    ...contentOf(route, components),
  },
  ...(route.conditional
    ? {
        304: {
          description: 'Nothing has changed since the response that If-None-Match names.',
          ...contentEtag,
        },
      }
    : {}),
  ...(route.download ? { 304: { description: 'The client has the content already.', ...contentEtag } } : {}),
  ...(route.mayAccept
    ? { 202: { description: 'Accepted: it goes on after the response.', ...contentOf(route, components) } }
    : {}),
  ...(route.orNothing ? { 204: { description: 'There is nothing to send.' } } : {}),
});

const errorResponse = (route: Route, status: number): Json => ({
  description: errorDescriptions[status],
  content: {
    'application/json': { schema: { $ref: '#/components/schemas/Error' } },
    ...(route.failurePage ? { 'text/html': { schema: { type: 'string' } } } : {}),
  },
});

const operationOf = (route: Route, tags: string[], components: Json): Json => ({
  operationId: route.id,
  summary: route.summary,
  ...(route.description ? { description: route.description } : {}),
  tags,
  ...permissionOf(route),
  parameters: parametersOf(route, components),
  ...(route.web?.operation.requestBody && { requestBody: route.web.operation.requestBody }),
  ...(route.web ? {} : bodyOf(route, components)),
  responses: {
    ...(route.web ? {} : successOf(route, components)),
    ...Object.fromEntries(statusesOf(route).map((status) => [status, errorResponse(route, status)])),
    ...route.web?.operation.responses,
  },
});
/**
 * Returns the OpenAPI 3.1 document of the routes of one base, from the schemas that check requests and responses.
 */
export const describeApi = (api: {
  base: Base;
  groups: readonly RouteGroup[];
  publicUrl: string;
  version: string;
}): ApiDocument => {
  const components: Json = { Error: errorSchema };
  const paths: Record<string, Json> = {};
  const used = new Set<NonNullable<RouteGroup['tag']>>();
  for (const { tag, routes = [], rawRoutes = [] } of api.groups) {
    const tags = tag ? [tag.name] : [];
    const at = (path: string, method: string, operation: Json) => {
      paths[path] = { ...paths[path], [method]: operation };
      if (tag) used.add(tag);
    };
    for (const route of routes.filter((one) => basesOf(one).includes(api.base))) {
      at(route.path, route.method.toLowerCase(), operationOf(route, tags, components));
    }
    for (const { document } of api.base === '/app/api' ? [] : rawRoutes) {
      const { path, id, operation } = document;
      at(path, 'post', { operationId: id, ...permissionOf(document), tags, ...operation });
    }
  }
  const value: Json = {
    openapi: '3.1.0',
    info: {
      title: api.base === '/app/api' ? 'Agent Platform: application operations' : 'Agent Platform Public API',
      version: api.version,
      summary: 'The API is alpha: endpoints and fields may change.',
      description:
        'A self-hosted control plane for AI agents. Every request carries `Authorization: Bearer <API_KEY>`; `x-required-role` says which role an operation requires, and `x-required-scope` which scope a key with scopes must have. This API is marked alpha.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${api.publicUrl}${api.base}` }],
    security: [{ bearer: [] }],
    tags: [...used],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
    },
  };
  return { value, text: JSON.stringify(value) };
};
