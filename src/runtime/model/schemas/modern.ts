import { isObject } from '../../../lib/objects.ts';

/** A JSON Schema that is an object. */
export type Schema = Record<string, unknown>;

/** Schemas that nest deeper are open from there on: `{}`. */
const maxDepth = 64;

const typeNames = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

const isNumber = (value: unknown) => typeof value === 'number';
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isText = (value: unknown) => typeof value === 'string';
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isPattern = (value: unknown): boolean => {
  try {
    return isText(value) && new RegExp(value as string, 'u') !== null;
  } catch {
    return false;
  }
};
const isType = (value: unknown) =>
  typeNames.has(value as string) ||
  (isTexts(value) &&
    (value as string[]).length > 0 &&
    (value as string[]).every((one) => typeNames.has(one)));
/** A type may be named once in a list of types. */
const withoutRepeats = (type: unknown): unknown => (Array.isArray(type) ? [...new Set(type)] : type);

/** Checks of the values of keywords by 2020-12. A keyword of an earlier draft with another value is removed. */
const valid: Record<string, (value: unknown) => boolean> = {
  type: isType,
  required: isTexts,
  enum: Array.isArray,
  examples: Array.isArray,
  pattern: isPattern,
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  dependentRequired: (value) => isObject(value) && Object.values(value).every(isTexts),
  ...Object.fromEntries(
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((key) => [key, isNumber]),
  ),
  ...Object.fromEntries(
    ['Length', 'Items', 'Contains', 'Properties'].flatMap((of) => [
      [`min${of}`, isCount],
      [`max${of}`, isCount],
    ]),
  ),
  ...Object.fromEntries(
    ['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'].map((key) => [key, isBoolean]),
  ),
  ...Object.fromEntries(
    ['title', 'description', 'format', '$ref', '$comment', 'contentEncoding', 'contentMediaType'].map(
      (key) => [key, isText],
    ),
  ),
};

/** Keywords that are removed. The draft and the name of a schema mean nothing inside a request. */
const removed = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$vocabulary',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  // Keywords of earlier drafts.
  'additionalItems',
  'dependencies',
  // Providers refuse it, and so do proxies in front of others.
  'propertyNames',
]);

const maps = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas']);
const lists = new Set(['anyOf', 'oneOf', 'allOf']);
const single = new Set([
  'additionalProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
]);

/** A subschema. `true` allows anything, as `{}` does; what is no schema says nothing. */
const subschema = (value: unknown, depth: number): Schema | false =>
  value === false ? false : isObject(value) && depth < maxDepth ? modernNode(value, depth + 1) : {};

const schemas = (value: unknown, depth: number): (Schema | false)[] =>
  Array.isArray(value) ? value.map((one) => subschema(one, depth)) : [];

/** One schema that allows what any of `options` allows. */
export const anyOf = (options: readonly unknown[]): Schema => {
  const distinct = [...new Map(options.map((one) => [JSON.stringify(one), one])).values()].filter(isObject);
  if (distinct.length === 0 || distinct.some((one) => Object.keys(one).length === 0)) return {};
  return distinct.length === 1 ? distinct[0]! : { anyOf: distinct };
};

/** The schema of the items of an array: positions, as a list or as `prefixItems`, become one schema for all. */
const itemsOf = ({ items, prefixItems }: Schema, depth: number): Schema => {
  const positions = Array.isArray(items) ? items : Array.isArray(prefixItems) ? prefixItems : [];
  const others = Array.isArray(items) || items === undefined ? [] : [items];
  return anyOf([...positions, ...others].map((one) => subschema(one, depth)));
};

const isArrayType = ({ type }: Schema) => type === 'array' || (Array.isArray(type) && type.includes('array'));

/** `true` was a flag next to `minimum` and `maximum` in draft 4. */
const withBounds = (node: Schema): Schema => {
  const bounded = { ...node };
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (bounded[flag] !== true || !isNumber(bounded[bound])) continue;
    bounded[flag] = bounded[bound];
    delete bounded[bound];
  }
  return bounded;
};

const mapOf = (key: string, map: Schema, depth: number): Schema =>
  Object.fromEntries(
    Object.entries(map)
      .map(([name, one]) => [name, subschema(one, depth)] as const)
      // A property that must not be there is not offered.
      .filter(([, one]) => key !== 'properties' || one !== false),
  );

const modernNode = (given: Schema, depth: number): Schema => {
  const node = withBounds(given);
  if ('type' in node) node.type = withoutRepeats(node.type);
  const modern: Schema = {};
  const set = (key: string, value: unknown): void => {
    // Also a property that is called `__proto__` is an own one.
    Object.defineProperty(modern, key, { value, enumerable: true, configurable: true, writable: true });
  };
  for (const [key, value] of Object.entries(node)) {
    if (removed.has(key) || key === 'items' || key === 'prefixItems') continue;
    if (key === 'definitions' || key === '$defs') {
      if (isObject(value)) set('$defs', { ...(modern.$defs as Schema), ...mapOf('$defs', value, depth) });
    } else if (maps.has(key)) {
      if (isObject(value)) set(key, mapOf(key, value, depth));
    } else if (lists.has(key)) {
      const options = schemas(value, depth);
      if (options.length > 0) set(key, options);
    } else if (single.has(key)) {
      if (typeof value === 'boolean' && key.endsWith('Properties')) set(key, value);
      else if (isObject(value) || typeof value === 'boolean') {
        const one = subschema(value, depth);
        // A condition that cannot be expressed here would leave nothing but "never".
        if (key !== 'not' || (one !== false && Object.keys(one).length > 0)) set(key, one);
      }
    } else if (valid[key]?.(value) ?? true) {
      set(key, key === '$ref' ? String(value).replace(/^#\/definitions\//, '#/$defs/') : value);
    }
  }
  if (isArrayType(modern) || 'items' in node || 'prefixItems' in node) set('items', itemsOf(node, depth));
  if (Array.isArray(modern.required)) {
    const { properties } = modern;
    const known = (name: string) => depth === 0 || !isObject(properties) || Object.hasOwn(properties, name);
    set('required', [...new Set(modern.required as string[])].filter(known));
  }
  return modern;
};

/**
 * A schema of any draft in terms of 2020-12, as all providers take it: every array has `items`, nothing has
 * `propertyNames`, and no keyword has a value that 2020-12 does not know. It allows all that the given one allows.
 */
export const modernSchema = (schema: Schema): Schema => modernNode(schema, 0);
