import { z } from 'zod';
import { isObject } from '../lib/objects.ts';
import type { Json } from './route.ts';

/** Returns the JSON Schema of `schema`. Named schemas (`.meta({ id })`) go to `components` and are referenced. */
export const toSchema = (schema: z.ZodType, io: 'input' | 'output', components: Json): Json => {
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
