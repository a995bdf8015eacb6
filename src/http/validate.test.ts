import { expect, it } from 'vitest';
import { z } from 'zod';
import { ApiError } from '../lib/errors.ts';
import { idList, jsonObject } from './schemas.ts';
import { validate } from './validate.ts';

const refusalOf = (schema: z.ZodType, value: unknown): ApiError => {
  try {
    validate(schema, value, 'body', ['late']);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was accepted');
};
const detailsOf = (error: ApiError) => error.context.details as { path: string; message: string }[];

it('an error has the first hundred faults of a body, however many there are', () => {
  const error = refusalOf(z.object({ payload: jsonObject }), {
    payload: { texts: Array(200_000).fill('\0') },
  });
  expect(error.status).toBe(422);
  expect(detailsOf(error)).toHaveLength(100);
  expect(detailsOf(error)[99]!.path).toBe('payload.texts[99]');
  expect(error.message.length).toBeLessThan(10_000);
});

it('a fault of one of badRequestFields is a 400, even if a hundred faults come before it', () => {
  const error = refusalOf(z.object({ payload: jsonObject, late: z.string() }), {
    payload: { texts: Array(200).fill('\0') },
    late: 1,
  });
  expect(error.status).toBe(400);
});

it('a list of ids that is too long is one fault, not one for each id', () => {
  const error = refusalOf(z.object({ ids: idList }), { ids: Array(1_000_000).fill(1) });
  expect(detailsOf(error)).toEqual([{ path: 'ids', message: 'must have at most 1,000 items' }]);
});

it('a missing list of ids is a 400; something else is a 422, and an item that is not an id is named by its path', () => {
  expect(refusalOf(z.object({ ids: idList }), {}).status).toBe(400);
  expect(detailsOf(refusalOf(z.object({ ids: idList }), { ids: {} }))[0]!.path).toBe('ids');
  expect(detailsOf(refusalOf(z.object({ ids: idList }), { ids: ['a', 1] }))[0]!.path).toBe('ids[1]');
});

it('text that cannot be stored is found at every depth, and in keys', () => {
  const value = { payload: { a: [{ b: ['x', 'y\ud800'] }], 'k\0': 1 } };
  expect(detailsOf(refusalOf(z.object({ payload: jsonObject }), value)).map(({ path }) => path)).toEqual([
    'payload.a[0].b[1]',
    'payload',
  ]);
});

it('a fault in one branch of a union is named by its path', () => {
  const schema = z.object({ content: z.union([z.string(), z.array(z.object({ type: z.literal('text') }))]) });
  expect(detailsOf(refusalOf(schema, { content: [{ type: 'file' }] }))[0]!.path).toBe('content[0].type');
  expect(detailsOf(refusalOf(schema, { content: 5 }))[0]!.path).toBe('content');
});
