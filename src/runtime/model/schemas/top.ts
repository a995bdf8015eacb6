import { isObject } from '../../../lib/objects.ts';
import { anyOf, type Schema } from './modern.ts';
import { resolveReference } from './references.ts';

/**
 * Keywords that providers refuse at the top of the arguments of a tool. Their rules for properties are kept without
 * them.
 */
const refused = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'enum', 'const', 'if', 'then', 'else'] as const;

/** The properties that an object may have, with all schemas that are said of each, and those that it must have. */
interface Arguments {
  properties: Map<string, unknown[]>;
  required: Set<string>;
}

const add = (into: Arguments, { properties }: Arguments): void => {
  for (const [name, schemas] of properties) {
    into.properties.set(name, [...(into.properties.get(name) ?? []), ...schemas]);
  }
};

const allowsObjects = ({ type }: Schema): boolean =>
  type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));

/**
 * Limit of the schemas that are read. Those after it add nothing: a definition that refers twice to the next one, which
 * does the same, would otherwise keep the process busy for hours.
 */
const maxSchemas = 500;

/** The schema that is read, and how many more of those in it are looked at. */
interface Reading {
  root: Schema;
  left: number;
}

/** The arguments that `node` describes; null if no object fits it. `followed`: the references on the way to it. */
const argumentsOf = (reading: Reading, node: unknown, followed: readonly string[]): Arguments | null => {
  const nothing = !isObject(node) || reading.left-- <= 0;
  if (nothing) return node === false ? null : { properties: new Map(), required: new Set() };
  if (!allowsObjects(node)) return null;
  const own: Arguments = {
    properties: new Map(
      Object.entries(isObject(node.properties) ? node.properties : {}).map(([name, one]) => [name, [one]]),
    ),
    required: new Set(Array.isArray(node.required) ? node.required : []),
  };
  const reference = typeof node.$ref === 'string' && !followed.includes(node.$ref) ? node.$ref : null;
  const all: [unknown, readonly string[]][] = [
    ...(reference === null
      ? []
      : [
          [resolveReference(reading.root, reference), [...followed, reference]] as [
            unknown,
            readonly string[],
          ],
        ]),
    ...(Array.isArray(node.allOf) ? node.allOf : []).map((one): [unknown, readonly string[]] => [
      one,
      followed,
    ]),
  ];
  for (const [one, path] of all) {
    const part = argumentsOf(reading, one, path);
    if (!part) return null;
    add(own, part);
    for (const name of part.required) own.required.add(name);
  }
  for (const choice of [node.anyOf, node.oneOf]) {
    if (!Array.isArray(choice)) continue;
    const options = choice.flatMap((one) => argumentsOf(reading, one, followed) ?? []);
    const [first, ...others] = options;
    if (!first) return null;
    for (const option of options) add(own, option);
    for (const name of first.required) {
      if (others.every(({ required }) => required.has(name))) own.required.add(name);
    }
  }
  // A property that is only required somewhere can be anything.
  for (const name of own.required) if (!own.properties.has(name)) own.properties.set(name, []);
  for (const branch of [node.then, node.else]) {
    const part = argumentsOf(reading, branch, followed);
    if (part) add(own, part);
  }
  return own;
};

/**
 * The schema `root` of arguments as an object that lists its properties, with nothing at the top that providers refuse.
 * Rules for a property in several places become alternatives: the call is checked by the schema as it was given.
 * Null if no object fits the schema.
 */
export const plainObject = (root: Schema): Schema | null => {
  const given = argumentsOf({ root, left: maxSchemas }, root, []);
  if (!given) return null;
  const rest = Object.fromEntries(
    Object.entries(root).filter(([key]) => !refused.some((one) => one === key)),
  );
  const { required: _, ...others } = rest;
  return {
    ...others,
    type: 'object',
    properties: Object.fromEntries(
      [...given.properties].map(([name, schemas]) => [
        name,
        schemas.length === 1 ? schemas[0] : anyOf(schemas),
      ]),
    ),
    ...(given.required.size > 0 ? { required: [...given.required] } : {}),
  };
};
