import tls from 'node:tls';
import { expect, test } from 'vitest';
import { openMigrated } from '../../../../tests/harness/database.ts';
import { describeWithNats, startNats } from '../../../../tests/harness/nats.ts';
import { selfSigned } from '../../../../tests/harness/self-signed.ts';
import { slice } from '../../../../tests/harness/telemetry-log.ts';
import { silentLogger } from '../../../lib/log.ts';
import { TelemetryLogRefusal } from '../log.ts';
import { addressOf } from './address.ts';
import { openSharedLog } from './jetstream-log.ts';

test('an address has servers, the name of the stream, and who comes: a user with a password, or a token', () => {
  expect(addressOf('nats://one')).toEqual({ servers: ['one:4222'], name: 'agent_platform_telemetry' });
  expect(addressOf('nats://u:p%40ss@one:1/staging, nats://[::1]:2')).toEqual({
    servers: ['one:1', '[::1]:2'],
    name: 'staging',
    user: 'u',
    pass: 'p@ss',
  });
  expect(addressOf('nats://t%3Aken@one')).toMatchObject({ token: 't:ken' });
  expect(addressOf('tls://one,tls://two')).toMatchObject({ servers: ['one:4222', 'two:4222'], tls: {} });
});

test.each([
  'nats://me:secret%zz@one',
  'nats://me:secret@one:99999',
  'nats://me:secret@one/a.b',
  'nats://me:secret@one,tls://two',
  'http://me:secret@one',
])('%s is refused at once, and what is said holds no password', (url) => {
  const refusal = (() => {
    try {
      return addressOf(url);
    } catch (error) {
      return error;
    }
  })();
  expect(refusal).toBeInstanceOf(TelemetryLogRefusal);
  expect(JSON.stringify(Object.entries(refusal as Error)) + String(refusal)).not.toContain('secret');
});

describeWithNats('a server that wants TLS and a token', () => {
  test('gets both; with another token it is refused at once, with another certificate and in plain text nothing is sent', async () => {
    await using db = await openMigrated('postgres');
    await using nats = await startNats({ tls: selfSigned, authorization: 'token: "right-token"' });
    await using plain = await startNats();
    const at = async (url: string): Promise<string> => {
      const log = await openSharedLog({ url, db, log: silentLogger, exists: async () => false });
      await log.append([slice('a', 1, [1])]).finally(() => log.close());
      return 'stored';
    };
    const address = (token: string) => `tls://${token}@localhost:${nats.port}`;
    await expect(at(address('right-token'))).rejects.toThrow('self-signed certificate');
    const trusted = tls.getCACertificates('default');
    tls.setDefaultCACertificates([...trusted, selfSigned.cert]);
    try {
      expect(await at(address('right-token'))).toBe('stored');
      expect(await at(address('right-token').replace('tls:', 'nats:'))).toBe('stored');
      const refusal = await at(address('wrong-token')).catch((error) => error);
      expect(refusal).toBeInstanceOf(TelemetryLogRefusal);
      expect(refusal.message).not.toContain('wrong-token');
    } finally {
      tls.setDefaultCACertificates(trusted);
    }
    await expect(at(`tls://localhost:${plain.port}`)).rejects.toThrow('tls');
  });
});
