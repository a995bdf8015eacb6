import type { z } from 'zod';
import type { Fault } from '../lib/errors.ts';
import { isObject } from '../lib/objects.ts';
import { showPath } from '../lib/text.ts';
import type { Path } from './paths.ts';

/** The used part of a zod schema (https://zod.dev/packages/core): requests ignore unknown keys, documents refuse them. */
interface Definition {
  type: string;
  shape?: Record<string, z.ZodType>;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  options?: z.ZodType[];
  discriminator?: string;
  values?: unknown[];
}

const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition;

/** The schema without what makes it optional, and of a transformation what it takes. */
const innermost = (schema: z.ZodType): z.ZodType => {
  const { innerType, in: given } = definitionOf(schema);
  const inner = innerType ?? given;
  return inner ? innermost(inner) : schema;
};

/** The branch of a union that is for `value`; undefined if none is. */
const branchOf = ({ options = [], discriminator }: Definition, value: Record<string, unknown>) =>
  options.find((option) => {
    if (discriminator === undefined) return option.safeParse(value).success;
    const field = definitionOf(innermost(option)).shape?.[discriminator];
    const { values } = field ? definitionOf(innermost(field)) : {};
    const given = value[discriminator] ?? undefined;
    return values?.includes(given) || (given === undefined && field?.safeParse(undefined).success);
  });

export const unknownKeys = (schema: z.ZodType, value: unknown, path: Path = []): Fault[] => {
  const inner = innermost(schema);
  const definition = definitionOf(inner);
  if (definition.type === 'array' && Array.isArray(value)) {
    return value.flatMap((one, i) => unknownKeys(definition.element!, one, [...path, i]));
  }
  if (!isObject(value)) return [];
  if (definition.type === 'union') {
    const branch = branchOf(definition, value);
    return branch ? unknownKeys(branch, value, path) : [];
  }
  if (definition.type !== 'object') return [];
  const shape = definition.shape!;
  return Object.entries(value).flatMap(([key, field]) => {
    const at = [...path, key];
    if (!Object.hasOwn(shape, key)) return [{ path: showPath(at), message: 'is not a field here' }];
    return unknownKeys(shape[key]!, field, at);
  });
};
