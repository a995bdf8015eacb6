import { expect, test } from 'vitest';
import { readSchema } from './schema.ts';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const text = { type: 'string' };
const leaves = (count: number) =>
  object(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, text])));
/** A schema whose objects nest `depth` deep. */
const nested = (depth: number): object => object({ a: depth === 1 ? text : nested(depth - 1) });

test('a schema is read with its references, and hints are named by the value that they speak of', () => {
  const read = readSchema(
    object(
      {
        seller: { $ref: '#/$defs/party', title: 'Seller' },
        lines: { type: ['array', 'null'], items: object({ price: { type: 'number', minimum: 0 } }) },
        kind: { type: ['null', 'string'], enum: ['a', null], format: 'x', pattern: '^a' },
        'a/b~': { type: 'string', maxLength: 3 },
      },
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { party: object({ name: text }), unused: { anyOf: [] } },
        required: ['kind'],
        additionalProperties: false,
      },
    ),
  );
  expect(read).toMatchObject({
    root: {
      kind: 'object',
      properties: [
        ['seller', { kind: 'object', title: 'Seller', properties: [['name', { type: 'string' }]] }],
        ['lines', { kind: 'array', items: { properties: [['price', { type: 'number' }]] } }],
        ['kind', { type: 'string', enum: ['a', null], format: 'x' }],
        ['a/b~', { type: 'string' }],
      ],
      required: new Set(['kind']),
    },
    notChecked: [
      { pointer: '/lines/*/price', keyword: 'minimum' },
      { pointer: '/kind', keyword: 'pattern' },
      { pointer: '/a~1b~0', keyword: 'maxLength' },
    ],
  });
});

test('exactly 200 leaves and six levels are allowed', () => {
  expect(readSchema(leaves(200))).toHaveProperty('root');
  expect(readSchema(nested(6))).toHaveProperty('root');
});

test.each<[string, unknown, string]>([
  ['is no object', [], 'schema'],
  ['has no type', { properties: { a: text } }, 'schema.type'],
  ['is a list at the root', { type: 'array', items: text }, 'schema.type'],
  ['has no properties', { type: 'object' }, 'schema.properties'],
  ['has two types', object({ a: { type: ['string', 'number'] } }), 'schema.properties.a.type'],
  ['has an unknown type', object({ a: { type: 'date' } }), 'schema.properties.a.type'],
  ['has an unknown keyword', object({ a: { ...text, oneOf: [] } }), 'schema.properties.a.oneOf'],
  ['has an enum of objects', object({ a: { ...text, enum: [{}] } }), 'schema.properties.a.enum'],
  ['has no items', object({ a: { type: 'array' } }), 'schema.properties.a.items'],
  ['requires what is not there', object({ a: text }, { required: ['b'] }), 'schema.required'],
  ['has 201 leaves', leaves(201), 'schema'],
  [
    'nests seven deep',
    nested(7),
    'schema.properties.a.properties.a.properties.a.properties.a.properties.a.properties.a',
  ],
  ['refers to another document', object({ a: { $ref: 'https://x/y' } }), 'schema.properties.a.$ref'],
  ['refers to nothing', object({ a: { $ref: '#/$defs/x' } }), 'schema.properties.a.$ref'],
  ['refers to what an object inherits', object({ a: { $ref: '#/constructor' } }), 'schema.properties.a.$ref'],
  ['refers to itself', object({ a: { $ref: '#' } }), 'schema.properties.a.$ref'],
  ['refers to what it is in', object({ a: { $ref: '#/properties/a' } }), 'schema.properties.a.$ref'],
])('a schema that %s is refused', (_what, schema, path) => {
  expect(readSchema(schema)).toMatchObject({ path, message: expect.any(String) });
});

test('references that multiply are stopped by the number of leaves', () => {
  const $defs: Record<string, object> = { d0: text };
  for (let i = 1; i <= 5; i++) {
    const $ref = `#/$defs/d${i - 1}`;
    $defs[`d${i}`] = object(Object.fromEntries(Array.from({ length: 50 }, (_, j) => [`p${j}`, { $ref }])));
  }
  expect(readSchema(object({ a: { $ref: '#/$defs/d5' } }, { $defs }))).toMatchObject({ path: 'schema' });
});
