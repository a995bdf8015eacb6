import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseStored } from './idempotency.ts';
import { timestamp } from './schemas.ts';

test('a response that was stored without the fields that were added since is sent as it was', () => {
  const settings = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('near'), room: z.string(), added: z.string() }),
    z.object({ kind: z.literal('far'), room: z.string(), added: z.string() }),
  ]);
  const schema = z.object({
    id: z.string(),
    at: timestamp,
    parts: z.array(z.object({ settings: settings.nullable(), added: z.int() })),
    added: z.string().nullable(),
  });
  const at = '2026-01-31T08:00:00.000Z';
  const stored = { id: 'a', at, parts: [{ settings: { kind: 'far', room: 'b' } }, { settings: null }] };
  expect(parseStored(schema, { ...stored, undeclared: 1 })).toEqual(stored);
  expect(() => parseStored(schema, { ...stored, id: 5 })).toThrow();
});
