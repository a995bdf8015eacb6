import { isObject } from '../../lib/objects.ts';
import { numbersIn } from './numbers.ts';
import { type ObjectNode, pointerPart, type ScalarNode, type SchemaNode } from './schema.ts';

/** A whole number that a JavaScript number cannot hold is a BigInt, so that it keeps all its digits. */
export type Scalar = string | number | bigint | boolean | null;
export type DataValue = Scalar | DataValue[] | { [key: string]: DataValue };

export interface DataWarning {
  code: 'missing' | 'type_mismatch';
  /** JSON Pointer of the value. */
  path: string;
  message: string;
}

export interface Coerced {
  data: { [key: string]: DataValue };
  warnings: DataWarning[];
}

/**
 * Makes what a model returned fit the schema: every key is there, other keys are not, values have the type of the
 * schema. What is missing is null, an empty list, or an object of nulls. Text becomes a number only if it can be read in
 * one way.
 */
export const coerceData = (value: unknown, root: ObjectNode): Coerced => {
  const warnings: DataWarning[] = [];
  const warn = (code: DataWarning['code'], path: string, message: string): null => {
    warnings.push({ code, path, message });
    return null;
  };
  const missing = (path: string) => warn('missing', path, 'The document has no such value.');

  const coerceScalar = (given: unknown, node: ScalarNode, path: string): Scalar => {
    if (isNothing(given)) return missing(path);
    const found = scalarOf(given, node);
    if (found === undefined) return warn('type_mismatch', path, `The value found is no ${node.type}.`);
    if (node.enum && !node.enum.includes(found)) {
      return warn('type_mismatch', path, 'The value found is none of those that the schema allows.');
    }
    return found;
  };

  const coerce = (given: unknown, node: SchemaNode, path: string): DataValue => {
    if (node.kind === 'scalar') return coerceScalar(given, node, path);
    if (node.kind === 'object') return coerceObject(given, node, path);
    if (isNothing(given)) {
      missing(path);
      return [];
    }
    // One value instead of a list of one.
    const list = Array.isArray(given)
      ? given
      : node.items.kind === 'scalar' && !isObject(given)
        ? [given]
        : null;
    if (list) return list.map((item, i) => coerce(item, node.items, path + pointerPart(i)));
    warn('type_mismatch', path, 'The value found is no list.');
    return [];
  };

  const coerceObject = (given: unknown, node: ObjectNode, path: string): { [key: string]: DataValue } => {
    if (!isNothing(given) && !isObject(given)) warn('type_mismatch', path, 'The value found is no object.');
    const object = isObject(given) ? given : {};
    // Object.fromEntries makes a key `__proto__` like any other.
    return Object.fromEntries(
      node.properties.map(([name, property]) => [
        name,
        coerce(Object.hasOwn(object, name) ? object[name] : null, property, path + pointerPart(name)),
      ]),
    );
  };
  return { data: coerceObject(value, root, ''), warnings };
};

const isNothing = (given: unknown): boolean =>
  given === null || given === undefined || (typeof given === 'string' && given.trim() === '');

/** The value with the type of the node; undefined if it cannot have it. */
const scalarOf = (given: unknown, { type }: ScalarNode): Exclude<Scalar, null> | undefined => {
  if (typeof given === 'object') return undefined;
  switch (type) {
    case 'string':
      return typeof given === 'string' ? given : String(given);
    case 'boolean':
      return typeof given === 'string' ? booleans[given.trim().toLowerCase()] : asBoolean(given);
    case 'number':
      return numberOf(given);
    case 'integer': {
      const number = numberOf(given);
      return typeof number === 'bigint' || Number.isInteger(number) ? number : undefined;
    }
  }
};

const wholeNumber = /^-?\d+$/;

const booleans: Record<string, boolean | undefined> = Object.assign(Object.create(null), {
  true: true,
  false: false,
  yes: true,
  no: false,
});

const asBoolean = (given: unknown): boolean | undefined => (typeof given === 'boolean' ? given : undefined);

const numberOf = (given: unknown): number | bigint | undefined => {
  if (typeof given === 'bigint') return given;
  if (typeof given === 'number') return Number.isFinite(given) ? given : undefined;
  if (typeof given !== 'string') return undefined;
  const readings = numbersIn(given);
  const [reading, ...others] = readings;
  if (reading === undefined || others.length > 0) return undefined;
  const number = Number(reading);
  if (!Number.isFinite(number)) return undefined;
  return Number.isSafeInteger(number) || !wholeNumber.test(reading) ? number : BigInt(reading);
};

/**
 * Returns false unless every required key has a value. Null is none, nor is a list or an object that the warning `missing`
 * is about. It holds also inside an object that is missing.
 */
export const hasRequired = (data: DataValue, node: SchemaNode, warnings: readonly DataWarning[]): boolean => {
  const missing = new Set(warnings.filter(({ code }) => code === 'missing').map(({ path }) => path));
  const complete = (value: DataValue, at: SchemaNode, path: string): boolean => {
    if (at.kind === 'scalar') return true;
    if (at.kind === 'array') {
      return (value as DataValue[]).every((item, i) => complete(item, at.items, path + pointerPart(i)));
    }
    const object = value as { [key: string]: DataValue };
    return at.properties.every(([name, property]) => {
      const inside = path + pointerPart(name);
      if (at.required.has(name) && (object[name] === null || missing.has(inside))) return false;
      return complete(object[name] ?? null, property, inside);
    });
  };
  return complete(data, node, '');
};

/** Calls `visit` with each scalar that is not null, its JSON Pointer, and its node. What it returns takes its place. */
export const mapScalars = (
  data: { [key: string]: DataValue },
  root: ObjectNode,
  visit: (value: Exclude<Scalar, null>, path: string, node: ScalarNode) => Scalar,
): { [key: string]: DataValue } => {
  const map = (value: DataValue, node: SchemaNode, path: string): DataValue => {
    if (node.kind === 'scalar') return value === null ? null : visit(value as string, path, node);
    if (node.kind === 'array') {
      return (value as DataValue[]).map((item, i) => map(item, node.items, path + pointerPart(i)));
    }
    const object = value as { [key: string]: DataValue };
    return Object.fromEntries(
      node.properties.map(([name, property]) => [
        name,
        map(object[name] ?? null, property, path + pointerPart(name)),
      ]),
    );
  };
  return map(data, root, '') as { [key: string]: DataValue };
};
