import { expect, it } from 'vitest';
import { messageOf } from './errors.ts';

it('the message of an error without one is its code, such as for a connection refused at every address', () => {
  const refused = Object.assign(new AggregateError([new Error('::1'), new Error('127.0.0.1')]), {
    code: 'ECONNREFUSED',
  });
  expect(messageOf(refused)).toBe('ECONNREFUSED');
  expect(messageOf(new AggregateError([]))).toBe('AggregateError');
});
