import { describe, expect, test } from 'vitest';
import { compileArgumentCheck, compileSchema } from './json-schema.ts';

describe('a schema of someone who is not trusted', () => {
  test('names what is wrong', () => {
    const check = compileSchema({
      type: 'object',
      properties: { a: { type: 'object', properties: { b: { type: 'integer' } } } },
      required: ['a'],
    });
    expect(check({ a: { b: 1 } })).toBeNull();
    expect(check({ a: { b: 'x' } })).toBe('a.b must be integer');
    expect(check({})).toMatch(/required property 'a'/);
    expect(compileSchema(false)(1)).not.toBeNull();
  });

  test('does not reach outside of itself: a reference to another document cannot be compiled', () => {
    expect(() => compileSchema({ $ref: 'https://example.com/schema.json' })).toThrow(/can't resolve/);
    // Not even to another schema that was compiled before.
    compileSchema({ $id: 'https://example.com/schema.json', type: 'object' });
    expect(() => compileSchema({ $ref: 'https://example.com/schema.json' })).toThrow(/can't resolve/);
  });

  test('may be of an older draft; what is wrong or unknown in it does no harm', () => {
    const draft7 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      format: 'x',
      unknown: 1,
    };
    expect(compileSchema(draft7)({})).toBeNull();
    for (const wrong of [{ type: 'objekt' }, { properties: 5 }, { pattern: '(' }]) {
      expect(() => compileSchema(wrong)).toThrow();
      expect([compileArgumentCheck(wrong)({}), compileArgumentCheck(wrong)([])]).toEqual([
        null,
        'must be an object',
      ]);
    }
  });

  test('cannot block the process by a pattern or by references that multiply', () => {
    const pattern = compileSchema({ type: 'string', pattern: '^(a|a)+$' });
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => {
        const next = { $ref: `#/$defs/d${i + 1}` };
        return [`d${i}`, i === 59 ? { type: 'string' } : { allOf: [next, next] }];
      }),
    );
    expect(pattern(`${'a'.repeat(60)}!`)).toBeNull();
    const multiplying = compileArgumentCheck({
      type: 'object',
      $defs,
      properties: { a: { $ref: '#/$defs/d0' } },
    });
    expect(multiplying({ a: 'x' })).toBeNull();
    // Each would take its 50 ms if the first had not ruled the schema out, and this test its time limit.
    for (let i = 0; i < 1_000; i++) pattern(`${'a'.repeat(60)}!`);
  });
});
