import { describe, expect, test } from 'vitest';
import { compileArgumentCheck, compileSchema, onUncheckedValue } from './json-schema.ts';

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

  test('a value that makes a pattern backtrack is checked all the same, and so is the next', () => {
    const check = compileSchema({
      properties: { iban: { pattern: '^([A-Z0-9]+)+$' }, amount: { maximum: 10 } },
    });
    const hostile = `${'A'.repeat(40)}!`;
    expect(check({ iban: hostile, amount: 1 })).toMatch(/^iban must match pattern/);
    expect(check({ iban: 'A'.repeat(40), amount: 9_999 })).toBe('amount must be <= 10');
    expect(check({ iban: 'DE1', amount: 1 })).toBeNull();
    expect(
      compileSchema({ patternProperties: { '^(a|a)+$': false } })({ [`${'a'.repeat(40)}!`]: 1 }),
    ).toBeNull();
  });

  test('a value that cannot be checked in time is refused, and the schema is used again for the next', () => {
    const unchecked: string[] = [];
    const end = onUncheckedValue((subject) => unchecked.push(subject));
    // No linear engine has a look-ahead.
    const check = compileSchema(
      { properties: { s: { pattern: '^(?=a)(a+)+$' }, amount: { maximum: 10 } } },
      'the arguments of xfer',
    );
    expect(check({ s: `${'a'.repeat(40)}!`, amount: 1 })).toMatch(/cannot be checked in time/);
    expect(check({ s: 'aa', amount: 9_999 })).toBe('amount must be <= 10');
    expect(check({ s: 'aa', amount: 1 })).toBeNull();
    expect(unchecked).toEqual(['the arguments of xfer']);
    end();
  });

  test('cannot block the process by references that multiply', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => {
        const next = { $ref: `#/$defs/d${i + 1}` };
        return [`d${i}`, i === 59 ? { type: 'string' } : { allOf: [next, next] }];
      }),
    );
    const multiplying = compileArgumentCheck({
      type: 'object',
      $defs,
      properties: { a: { $ref: '#/$defs/d0' } },
    });
    expect(multiplying({ a: 'x' })).toMatch(/cannot be checked/);
    expect(multiplying({ b: 1 })).toBeNull();
  });
});
