import { expect, it } from 'vitest';
import { Secret } from '../../lib/crypto.ts';
import type { Destination } from '../routing.ts';
import { outcomeOf } from './outcome.ts';

const token = 'tok_5fQ"x/9+Zw-ab_longer';
const destination: Destination = {
  number: 1,
  id: 'i',
  provider: 'otlp_custom_headers',
  url: 'https://collector.example/v1/traces?key=in-the-url-1',
  headers: [
    ['authorization', new Secret(`Basic ${Buffer.from('user:p4').toString('base64')}`)],
    ['x-token', new Secret(token)],
    ['x-project-name', 'orders'],
  ],
  resourceAttributes: {},
  enabled: true,
  revision: 1,
};
const errorFor = (message: string): string => {
  const response = {
    status: 401,
    headers: { 'content-type': 'text/plain' },
    body: Buffer.from(message),
    truncated: false,
  };
  return (outcomeOf(destination, response, 1, 0) as { error: string }).error;
};

it.each([
  ['whole', `bad token ${token}`],
  ['in part', `bad token ${token.slice(3, 12)}…`],
  ['percent-encoded', `bad token ${encodeURIComponent(token)}`],
  ['as JSON', `bad token ${JSON.stringify(token)}`],
  ['as Basic credentials', `got ${Buffer.from('user:p4').toString('base64')}`],
  ['a short password', 'wrong password p4'],
  ['from the url', 'no key in-the-url-1'],
])('withholds what a backend says when it repeats a credential %s', (_how, message) => {
  expect(errorFor(message)).toBe(
    'the backend responded with 401 (its message repeats credentials and is not shown)',
  );
});

it('shows what a backend says otherwise, on one line and cut short', () => {
  expect(errorFor('orders:\n unknown\u0000 tenant')).toBe(
    'the backend responded with 401: orders: unknown tenant',
  );
  expect(errorFor('x'.repeat(5_000)).length).toBeLessThan(250);
});
