import { expect, test } from 'vitest';
import { emptyField, fieldsOf, invoiceFields, schemaOf } from './schema.ts';

test('fields become a schema and the schema the same fields', () => {
  const schema = schemaOf(invoiceFields);
  expect(schema).toMatchObject({
    type: 'object',
    required: ['invoice_number', 'total'],
    properties: {
      invoice_date: { type: 'string', format: 'date' },
      line_items: {
        type: 'array',
        items: { type: 'object', properties: { description: { type: 'string' }, price: { type: 'number' } } },
      },
    },
  });
  expect(fieldsOf(schema)).toEqual(invoiceFields);
  expect(schemaOf([emptyField, { ...emptyField, key: ' a ' }])).toEqual({
    type: 'object',
    properties: { a: { type: 'string' } },
  });
});

test.each([
  ['an enumeration', { type: 'object', properties: { a: { type: 'string', enum: ['x'] } } }],
  ['an object inside', { type: 'object', properties: { a: { type: 'object', properties: {} } } }],
  ['a description of the whole', { type: 'object', description: 'x', properties: { a: { type: 'string' } } }],
  ['no object', 7],
])('%s cannot be shown as fields', (_what, schema) => expect(fieldsOf(schema)).toBeNull());
