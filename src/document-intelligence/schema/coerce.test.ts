import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coerceData, hasRequired, mapScalars } from './coerce.ts';
import { canonicalOf, numbersIn } from './numbers.ts';
import { type ExtractionSchema, readSchema } from './schema.ts';

const rootOf = (properties: object, more: object = {}) =>
  (readSchema({ type: 'object', properties, ...more }) as ExtractionSchema).root;
const one = (type: string, value: unknown, more: object = {}) => {
  const { data, warnings } = coerceData({ a: value }, rootOf({ a: { type, ...more } }));
  return [data.a, ...warnings.map(({ code, path }) => `${code} ${path}`)];
};

test.each<[type: string, given: unknown, value: unknown]>([
  ['string', 5, '5'],
  ['string', true, 'true'],
  ['string', ' a ', ' a '],
  ['number', '1.234,56', 1234.56],
  ['number', '1,234.56', 1234.56],
  ['number', '1 234,5', 1234.5],
  ['number', "1'234.50", 1234.5],
  ['number', '1.234', 1.234],
  ['number', '1.234.567', 1234567],
  ['number', '€ 12,5', 12.5],
  ['number', '1,234.56 EUR', 1234.56],
  ['number', '-$5', -5],
  ['number', '(12.50)', -12.5],
  ['number', '12.50-', -12.5],
  ['number', '1e3', 1000],
  ['integer', '12', 12],
  ['integer', '12.0', 12],
  ['boolean', 'Yes', true],
  ['boolean', 'false', false],
])('%s: %j becomes %j', (type, given, value) => {
  expect(one(type, given)).toEqual([value]);
});

test('whole numbers that a JavaScript number cannot hold keep all their digits', () => {
  for (const [type, given, value] of [
    ['integer', '9007199254740993', 9007199254740993n],
    ['integer', '-9.007.199.254.740.993', -9007199254740993n],
    ['integer', 9007199254740993n, 9007199254740993n],
    ['number', '12345678901234567890', 12345678901234567890n],
    ['string', 9007199254740993n, '9007199254740993'],
  ]) {
    expect(one(String(type), given)).toEqual([value]);
  }
});

test.each<[type: string, given: unknown, more?: object]>([
  ['number', '1,234'],
  ['number', 'about 5'],
  ['number', true],
  ['number', '5 6'],
  ['number', '1e999'],
  ['integer', 1.5],
  ['integer', '1,5'],
  ['boolean', 1],
  ['boolean', 'constructor'],
  ['string', { x: 1 }],
  ['string', ['x']],
  ['string', 'c', { enum: ['a', 'b'] }],
])('%s: %j is no such value', (type, given, more) => {
  expect(one(type, given, more)).toEqual([null, 'type_mismatch /a']);
});

test('every key is there and no other', () => {
  const root = rootOf({
    name: { type: 'string' },
    seller: { type: 'object', properties: { city: { type: 'string' }, ['__proto__']: { type: 'string' } } },
    tags: { type: 'array', items: { type: 'string' } },
    rows: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
  });
  const { data, warnings } = coerceData({ name: '', extra: 1, tags: 'x', rows: [{ n: 1 }, 7] }, root);
  expect(JSON.stringify(data)).toBe(
    '{"name":null,"seller":{"city":null,"__proto__":null},"tags":["x"],"rows":[{"n":1},{"n":null}]}',
  );
  expect(warnings.map(({ code, path }) => `${code} ${path}`)).toEqual([
    'missing /name',
    'missing /seller/city',
    'missing /seller/__proto__',
    'type_mismatch /rows/1',
    'missing /rows/1/n',
  ]);
});

test('a required key needs a value: null and a missing list are none', () => {
  const root = rootOf(
    { a: { type: ['string', 'null'] }, list: { type: 'array', items: { type: 'string' } } },
    { required: ['a', 'list'] },
  );
  const valid = (value: unknown) => {
    const { data, warnings } = coerceData(value, root);
    return hasRequired(data, root, warnings);
  };
  expect([{ a: 'x', list: [] }, { a: null, list: [] }, { a: 'x' }, null].map(valid)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('whatever a model returns, the data has the keys of the schema and can be coerced again without a change', () => {
  const root = rootOf({
    s: { type: 'string' },
    n: { type: 'number' },
    o: {
      type: 'object',
      properties: { b: { type: 'boolean' }, l: { type: 'array', items: { type: 'integer' } } },
    },
  });
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.record({ s: fc.jsonValue(), n: fc.jsonValue(), o: fc.jsonValue() })),
      (value) => {
        const { data } = coerceData(value, root);
        expect(Object.keys(data)).toEqual(['s', 'n', 'o']);
        expect(coerceData(data, root).data).toEqual(data);
        expect(mapScalars(data, root, (scalar) => scalar)).toEqual(data);
      },
    ),
  );
});

test('every finite number is read from its own text, and its canonical form is the same number', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      expect(Number(canonicalOf(number))).toBe(number === 0 ? 0 : number);
      expect(numbersIn(String(number)).map(Number)).toEqual([number === 0 ? 0 : number]);
    }),
  );
});
