import { expect, test } from 'vitest';
import { checkAnswers } from './forms.ts';
import { readRequest, readRequests } from './requests.ts';

const form = (properties: object, more: object = {}) => ({
  message: '?',
  requestedSchema: { type: 'object', properties, ...more },
});
const read = (params: unknown) => readRequest('elicitation/create', params);
const url = (address: unknown) => read({ mode: 'url', message: '?', url: address });

test('what is no form and no address is refused, with the reason', () => {
  expect(readRequest('sampling/createMessage', {})).toEqual({ fault: 'a reply of a model (sampling)' });
  expect(readRequest('roots/list', {})).toEqual({ fault: 'folders (roots)' });
  expect(readRequest('tools/list', {})).toMatchObject({ fault: expect.any(String) });
  const refused = [
    null,
    [],
    { requestedSchema: { type: 'object', properties: {} } },
    { message: '?' },
    { ...form({}), message: 'x'.repeat(10_001) },
    { ...form({}), mode: 'voice' },
    form({ x: null }),
    form({ x: { type: ['string', 'null'] } }),
    form({ x: { type: 'null' } }),
    form({ x: { type: 'array', items: { type: 'string' } } }),
    form({ x: { type: 'array', items: { type: 'object', properties: {} } } }),
    form({ x: { type: 'string', enum: [] } }),
    form({ x: { type: 'string', enum: [1] } }),
    form({ x: { type: 'string', oneOf: [{ title: 'A' }] } }),
    form({ x: { type: 'string', anyOf: [{ type: 'string' }] } }),
    form({ x: { type: 'string', format: '__proto__' } }),
    form({ x: { type: 'string' } }, { required: ['y'] }),
    form({ x: { type: 'string' } }, { required: ['toString'] }),
    form({ x: { type: 'string' } }, { allOf: [{}] }),
    form({ x: { type: 'string' } }, { $ref: '#/x' }),
    { message: '?', requestedSchema: { type: 'object', properties: [] } },
    { message: '?', requestedSchema: { type: 'array' } },
    { ...form({}), message: '\ud800' },
  ];
  for (const params of refused)
    expect([params, read(params)]).toEqual([params, { fault: expect.any(String) }]);
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, {}]));
  expect(readRequests(many)).toEqual({ fault: 'more than 50 things at once' });
});

test('addresses are https, or http on this machine', () => {
  for (const address of [
    'https://example.com/a?b#c',
    'http://localhost:1/',
    'http://127.0.0.1/',
    'http://[::1]/',
  ]) {
    expect(url(address)).toMatchObject({ mode: 'url', url: address, schema: null });
  }
  const refused = [
    undefined,
    5,
    '',
    'http://example.com/',
    'http://localhost.example.com/',
    'https://user@example.com/',
    'https://a b/',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    '//example.com',
    'https:\\\\example.com',
    `https://example.com/${'x'.repeat(2_048)}`,
  ];
  for (const address of refused)
    expect([address, url(address)]).toEqual([address, { fault: expect.any(String) }]);
});

test('answers are checked, field by field, and defaults fill what they leave out', () => {
  const { requestedSchema: schema } = form(
    {
      text: { type: 'string', minLength: 2, default: 'ab' },
      slow: { type: 'string', pattern: '^(a+)+$' },
      at: { type: 'string', format: 'date-time' },
      on: { type: 'string', format: 'date' },
      to: { type: 'string', format: 'uri' },
      one: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      many: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, maxItems: 1 },
      number: { type: 'number', default: 0 },
    },
    { required: ['text', 'number'] },
  );
  const check = (answers: object) => checkAnswers(schema as never, answers as never);
  expect(check({})).toEqual({ content: { text: 'ab', number: 0 } });
  expect(
    check({
      at: '2026-01-31T12:00:00+02:00',
      on: '2024-02-29',
      to: 'https://a.example',
      one: 'a',
      many: ['a'],
    }),
  ).toHaveProperty('content');
  const refused = [
    { text: 'a' },
    { text: null },
    { slow: `${'a'.repeat(50)}!` },
    { at: '2026-01-31' },
    { at: '2026-01-31T12:00:00' },
    { on: '2025-02-29' },
    { to: 'nowhere' },
    { one: 'A' },
    { many: ['b'] },
    { many: ['a', 'a'] },
    { number: '1' },
    { other: 1 },
    JSON.parse('{"__proto__": 1}'),
  ];
  for (const answers of refused)
    expect([answers, check(answers)]).toEqual([answers, { fault: expect.any(String) }]);
});
