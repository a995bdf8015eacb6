import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { isSigningSecret, newSigningSecret, signedHeaders } from './signature.ts';

const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 5).toString('base64')}`;

test('what is signed is accepted by the reference library, and nothing else is', () => {
  const secret = newSigningSecret();
  const body = '{"type":"work_item.completed","name":"é"}';
  const headers = signedHeaders(secret, { id: 'an-id', seconds: Math.floor(Date.now() / 1000), body });
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  expect(() => new Webhook(secretOf(32)).verify(body, headers)).toThrow();
  expect(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'other' })).toThrow();
});

test.each([
  [true, '24 bytes', secretOf(24)],
  [true, '64 bytes', secretOf(64)],
  [true, 'a generated one', newSigningSecret()],
  [false, '23 bytes', secretOf(23)],
  [false, '65 bytes', secretOf(65)],
  [false, 'no prefix', secretOf(32).slice(6)],
  [false, 'no padding', secretOf(32).replace(/=+$/, '')],
  [false, 'the alphabet for addresses', `whsec_${Buffer.alloc(33, 255).toString('base64url')}`],
  [false, 'a space', `${secretOf(24)} `],
  [false, 'nothing', ''],
])('%s: a secret of %s', (expected, _what, secret) => {
  expect(isSigningSecret(secret)).toBe(expected);
});
