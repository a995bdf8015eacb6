import { type ErrorCode, errorStatus } from '../lib/errors.ts';
import type { Base } from './addresses.ts';
import { permissionOf } from './operation-document.ts';
import type { Json, RouteGroup } from './route.ts';

/** The OpenAPI document of one base, as a value and as the JSON text that is served. */
export interface ApiDocument {
  value: Json;
  text: string;
}

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
    for (const route of routes.filter(({ bases }) => bases.includes(api.base))) {
      at(route.path, route.method.toLowerCase(), route.describe(components, tags));
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
