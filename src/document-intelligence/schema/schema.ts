import type { Fault } from '../../lib/errors.ts';
import { keyOfToken, pointerToken } from '../../lib/json-pointer.ts';
import { isObject } from '../../lib/objects.ts';

/** The accepted part of JSON Schema, as a tree without references. */
export type SchemaNode = ScalarNode | ArrayNode | ObjectNode;

interface Described {
  title: string | null;
  description: string | null;
}

type ScalarType = 'string' | 'number' | 'integer' | 'boolean';

export interface ScalarNode extends Described {
  kind: 'scalar';
  type: ScalarType;
  /** The values that are allowed; null for all. */
  enum: readonly unknown[] | null;
  format: string | null;
}

interface ArrayNode extends Described {
  kind: 'array';
  items: SchemaNode;
}

export interface ObjectNode extends Described {
  kind: 'object';
  /** In the order of the schema. A key may be `__proto__`. */
  properties: readonly (readonly [name: string, node: SchemaNode])[];
  required: ReadonlySet<string>;
}

export interface ExtractionSchema {
  root: ObjectNode;
  /** Keywords that are hints for the model only, with the JSON Pointer of the value that they speak of. */
  notChecked: { pointer: string; keyword: string }[];
}

export const maxSchemaBytes = 64 * 1024;
const maxLeaves = 200;
/** Objects and arrays inside each other; the root is 1. */
const maxDepth = 6;
/** References that lead to references; more of them than there can be levels is a loop or a joke. */
const maxReferences = 64;

const annotations = [
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'additionalProperties',
  '$defs',
  'definitions',
];
const hints = [
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
];
const scalars: readonly string[] = ['string', 'number', 'integer', 'boolean'];
/** The keywords of a value besides annotations and hints, by its type. */
const keywordsOf = {
  scalar: ['type', 'enum', 'format'],
  array: ['type', 'items'],
  object: ['type', 'properties', 'required'],
} as const;

/** A key as a part of a JSON Pointer (RFC 6901). */
export const pointerPart = (key: string | number): string => `/${pointerToken(key)}`;

class SchemaFault extends Error {
  readonly fault: Fault;
  constructor(path: string, message: string) {
    super(message);
    this.fault = { path, message };
  }
}

/**
 * Reads a JSON Schema. Returns the first thing in it that is not accepted as a fault, whose path begins with `schema`.
 * References must be local and must not lead back to themselves. Every object needs properties, so a schema without
 * leaves is refused.
 */
export const readSchema = (value: unknown): ExtractionSchema | Fault => {
  try {
    return new SchemaReader(value).read();
  } catch (error) {
    if (error instanceof SchemaFault) return error.fault;
    throw error;
  }
};

/** The position of a part of the schema (`path`, for faults), and of its value in the data (`pointer`). */
interface At {
  path: string;
  pointer: string;
  depth: number;
  /** The references that led here. */
  via: readonly string[];
}

class SchemaReader {
  readonly #document: unknown;
  readonly #notChecked: ExtractionSchema['notChecked'] = [];
  #leaves = 0;

  constructor(document: unknown) {
    this.#document = document;
  }

  read(): ExtractionSchema {
    const root = this.#node(this.#document, { path: 'schema', pointer: '', depth: 1, via: [] });
    if (root.kind !== 'object') throw new SchemaFault('schema.type', 'must be object at the root');
    return { root, notChecked: this.#notChecked };
  }

  #node(value: unknown, at: At): SchemaNode {
    if (!isObject(value)) throw new SchemaFault(at.path, 'must be a schema, which is an object');
    if (value.$ref !== undefined) return this.#reference(value, at);
    const type = this.#type(value.type, at);
    const kind = scalars.includes(type) ? 'scalar' : (type as 'array' | 'object');
    this.#checkKeywords(value, keywordsOf[kind], at);
    const described = this.#described(value, at);
    if (kind === 'scalar') {
      if (++this.#leaves > maxLeaves)
        throw new SchemaFault('schema', `must have at most ${maxLeaves} leaves`);
      return { kind, type: type as ScalarType, ...described, ...this.#scalarKeywords(value, at) };
    }
    if (at.depth > maxDepth) {
      throw new SchemaFault(at.path, `must nest objects and arrays at most ${maxDepth} deep`);
    }
    if (kind === 'array') {
      if (value.items === undefined) throw new SchemaFault(`${at.path}.items`, 'is required');
      const items = this.#node(value.items, {
        ...at,
        path: `${at.path}.items`,
        pointer: `${at.pointer}/*`,
        depth: at.depth + 1,
      });
      return { kind, ...described, items };
    }
    return { kind, ...described, ...this.#objectKeywords(value, at) };
  }

  /** The type besides `null`, which may be joined with any. */
  #type(type: unknown, { path }: At): string {
    const types = Array.isArray(type) ? type : [type];
    const others = types.filter((name) => name !== 'null');
    const [only] = others;
    if (type === undefined) throw new SchemaFault(`${path}.type`, 'is required');
    if (others.length !== 1 || new Set(types).size !== types.length) {
      throw new SchemaFault(`${path}.type`, 'must be one type, or one type and "null"');
    }
    if (!scalars.includes(only) && only !== 'object' && only !== 'array') {
      throw new SchemaFault(
        `${path}.type`,
        'must be string, number, integer, boolean, object or array, or one of them and "null"',
      );
    }
    return only;
  }

  #checkKeywords(value: Record<string, unknown>, own: readonly string[], at: At): void {
    for (const keyword of Object.keys(value)) {
      if (hints.includes(keyword)) this.#notChecked.push({ pointer: at.pointer, keyword });
      else if (!own.includes(keyword) && !annotations.includes(keyword)) {
        throw new SchemaFault(`${at.path}.${keyword}`, 'is not supported here');
      }
    }
  }

  #described(value: Record<string, unknown>, { path }: At): Described {
    const text = (keyword: 'title' | 'description'): string | null => {
      const given = value[keyword];
      if (given !== undefined && typeof given !== 'string') {
        throw new SchemaFault(`${path}.${keyword}`, 'must be text');
      }
      return given ?? null;
    };
    return { title: text('title'), description: text('description') };
  }

  #scalarKeywords(value: Record<string, unknown>, { path }: At): Pick<ScalarNode, 'enum' | 'format'> {
    const { enum: allowed, format } = value;
    if (format !== undefined && typeof format !== 'string')
      throw new SchemaFault(`${path}.format`, 'must be text');
    if (allowed === undefined) return { enum: null, format: format ?? null };
    if (!Array.isArray(allowed) || allowed.length === 0 || allowed.some((v) => typeof v === 'object' && v)) {
      throw new SchemaFault(`${path}.enum`, 'must be a list of texts, numbers, booleans or null');
    }
    return { enum: allowed, format: format ?? null };
  }

  #objectKeywords(value: Record<string, unknown>, at: At): Pick<ObjectNode, 'properties' | 'required'> {
    const { properties, required = [] } = value;
    if (!isObject(properties) || Object.keys(properties).length === 0) {
      throw new SchemaFault(`${at.path}.properties`, 'must be an object with at least one property');
    }
    if (!Array.isArray(required) || required.some((name) => typeof name !== 'string')) {
      throw new SchemaFault(`${at.path}.required`, 'must be a list of names');
    }
    const unknown = required.find((name: string) => !Object.hasOwn(properties, name));
    if (unknown !== undefined) {
      throw new SchemaFault(`${at.path}.required`, `names ${unknown}, which is not in properties`);
    }
    return {
      properties: Object.entries(properties).map(
        ([name, node]) =>
          [
            name,
            this.#node(node, {
              ...at,
              path: `${at.path}.properties.${name}`,
              pointer: at.pointer + pointerPart(name),
              depth: at.depth + 1,
            }),
          ] as const,
      ),
      required: new Set(required as string[]),
    };
  }

  /** Resolves a local reference, with the title and description next to it. */
  #reference(value: Record<string, unknown>, at: At): SchemaNode {
    const { $ref: reference } = value;
    const path = `${at.path}.$ref`;
    if (typeof reference !== 'string' || !reference.startsWith('#/')) {
      throw new SchemaFault(path, 'must be a reference inside this schema, such as #/$defs/address');
    }
    if (at.via.includes(reference) || at.via.length >= maxReferences) {
      throw new SchemaFault(path, 'must not lead back to itself');
    }
    this.#checkKeywords(value, ['$ref'], at);
    const node = this.#node(this.#find(reference, path), { ...at, via: [...at.via, reference] });
    const { title, description } = this.#described(value, at);
    return { ...node, title: title ?? node.title, description: description ?? node.description };
  }

  #find(reference: string, path: string): unknown {
    let found: unknown = this.#document;
    for (const part of reference.slice(2).split('/')) {
      const key = decode(part);
      if (key === null || typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) {
        throw new SchemaFault(path, 'leads to nothing in this schema');
      }
      found = (found as Record<string, unknown>)[key];
    }
    return found;
  }
}

/** A part of a JSON Pointer in a fragment of a URI; null if it is none. */
const decode = (part: string): string | null => {
  try {
    return keyOfToken(decodeURIComponent(part));
  } catch {
    return null;
  }
};
