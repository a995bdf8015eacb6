import { expect, test } from 'vitest';
import { parseNatsAddress } from './address.ts';

test('an address has servers, the name of the stream, and a user with a password, or a token', () => {
  expect(parseNatsAddress('nats://one')).toEqual({
    servers: ['one:4222'],
    stream: 'agent_platform_telemetry',
  });
  expect(parseNatsAddress('nats://u:p%40ss@one:1/staging, nats://[::1]:2')).toEqual({
    servers: ['one:1', '[::1]:2'],
    stream: 'staging',
    user: 'u',
    pass: 'p@ss',
  });
  expect(parseNatsAddress('nats://t%3Aken@one')).toMatchObject({ token: 't:ken' });
  expect(parseNatsAddress('tls://one,tls://two')).toMatchObject({
    servers: ['one:4222', 'two:4222'],
    tls: {},
  });
});

test('a list of servers has the scheme once, or before each', () => {
  const servers = ['a:4222', 'b:4222', '[::1]:4223'];
  const whole = { servers, stream: 'agent_platform_telemetry' };
  expect(parseNatsAddress('nats://a:4222,b:4222,[::1]:4223')).toEqual(whole);
  expect(parseNatsAddress('nats://a:4222,nats://b:4222,[::1]:4223/')).toEqual(whole);
  expect(parseNatsAddress('nats://me:secret@a, b ,[::1]:4223')).toEqual({
    ...whole,
    user: 'me',
    pass: 'secret',
  });
  expect(parseNatsAddress('tls://a,b/staging')).toMatchObject({ stream: 'staging', tls: {} });
  expect(parseNatsAddress('nats://a/staging,b')).toMatchObject({
    servers: ['a:4222', 'b:4222'],
    stream: 'staging',
  });
});

test.each([
  'nats://me:secret%zz@one',
  'nats://me:secret@one:99999',
  'nats://me:secret@one/a.b',
  'nats://me:secret@one,tls://two',
  'nats://me:sec ret@one',
  'nats://me:secret@one:',
  'nats://me:secret@one, nats://two/stream',
  'nats://me:secret@one:4222,two:99999',
  'nats://me:secret@one/a,two/b',
  'nats://me:secret@one,,two',
  'nats://me:secret@one,two,',
  'me:secret@one,nats://two',
  'http://me:secret@one',
])('%s is refused', (url) => {
  expect(parseNatsAddress(url)).toBeNull();
});
