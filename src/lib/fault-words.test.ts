import { expect, test } from 'vitest';
import { z } from 'zod';
import './fault-words.ts';

const said = (schema: z.ZodType, value: unknown): string => schema.safeParse(value).error!.issues[0]!.message;

test.each<[string, z.ZodType, unknown]>([
  ['must be a string, not a number', z.string(), 5],
  ['must be a string, not null', z.string(), null],
  ['is required', z.string(), undefined],
  ['must be true or false, not an array', z.boolean(), []],
  ['must be an object, not a string', z.strictObject({}), 'x'],
  ['must be an object, not an array', z.record(z.string(), z.string()), []],
  ['must be a whole number', z.int(), 1.5],
  ['must be a number, not a string', z.int(), 'x'],
  ['must be a number', z.number(), Number.NaN],
  ['must be one of "cat", "dog"', z.enum(['cat', 'dog']), 'cow'],
  ['must be "1"', z.literal('1'), 1],
  ['must not be empty', z.string().min(1), ''],
  ['must have at least 8 characters', z.string().min(8), 'x'],
  ['must have at most 1,000 characters', z.string().max(1_000), 'x'.repeat(1_001)],
  ['must have at most 1 item', z.array(z.string()).max(1), ['a', 'b']],
  ['must be at least 5', z.number().min(5), 4],
  ['must be at most 5', z.number().max(5), 6],
  ['must be greater than 0', z.number().positive(), 0],
  ['must be a multiple of 5', z.number().multipleOf(5), 6],
  ['has a field that is not known: "a"', z.strictObject({}), { a: 1 }],
  ['has fields that are not known: "a", "b"', z.strictObject({}), { a: 1, b: 2 }],
  ['must be a UUID', z.uuid(), 'x'],
  ['must begin with "re"', z.string().startsWith('re'), 'x'],
  ['must match /^[a-z]$/', z.string().regex(/^[a-z]$/), 'X'],
  ['must be "a"', z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') })]), { kind: 'b' }],
  ['has none of the forms that are possible here', z.union([z.string(), z.number()]), true],
])('%s', (words, schema, value) => {
  expect(said(schema, value)).toBe(words);
});
