import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config.ts';

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
  'http://me:secret@one',
])('%s is refused with one message that does not repeat the password', (url) => {
  const refusal = (() => {
    try {
      return readConfig({ TELEMETRY_LOG_URL: url });
    } catch (error) {
      return error;
    }
  })();
  expect(refusal).toBeInstanceOf(ConfigError);
  const { mistakes } = refusal as ConfigError;
  expect(mistakes).toHaveLength(1);
  expect(mistakes[0]).toMatch(/^TELEMETRY_LOG_URL: must be a nats:\/\/ or tls:\/\/ address/);
  expect(mistakes[0]).toContain('as nats://a:4222,b:4222,c:4222');
  expect(mistakes[0]).not.toContain('sec');
});
