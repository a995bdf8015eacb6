import tls from 'node:tls';
import { LogStream, openSharedLog, parseNatsAddress } from '@agent-platform/otlp/jetstream';
import { TelemetryLogRefusal } from '@agent-platform/otlp/log';
import { expect, test, vi } from 'vitest';
import { slice } from '../../../packages/otlp/tests/log.ts';
import { type Logger, silentLogger } from '../../../src/lib/log.ts';
import { streamStore } from '../../../src/telemetry/stream-store/store.ts';
import { openMigrated } from '../../harness/database.ts';
import { describeWithNats, startNats } from '../../harness/nats.ts';
import { selfSigned } from '../../harness/self-signed.ts';
import { until } from '../../harness/wait.ts';

describeWithNats('a user with restricted permissions', () => {
  test('a request that the server does not permit fails in time, and the log names it', async () => {
    const mayNot = 'permissions: { publish: { deny: ["*.head"] } }';
    await using nats = await startNats({
      authorization: `users: [{ user: u, password: secret, ${mayNot} }]`,
    });
    const warn = vi.fn();
    const address = parseNatsAddress(nats.url.replace('//', '//u:secret@'))!;
    const stream = await LogStream.open(address, { warn, info: () => {} } as unknown as Logger);
    try {
      const published = stream.publish('head', Buffer.from('x'), {}, 'id', performance.now() + 200);
      await expect(published).rejects.toMatchObject({ name: 'TelemetryLogError', kind: 'failed' });
      await until(() => warn.mock.calls.length > 0, 2_000);
      const logged = JSON.stringify(warn.mock.calls);
      expect(logged).toContain('.head');
      expect(logged).not.toContain('secret');
    } finally {
      await stream.close();
    }
  });
});

describeWithNats('TLS', () => {
  test('a server that requires TLS and a token gets both; a wrong token is refused at once; with another certificate or in plain text nothing is sent', async () => {
    await using db = await openMigrated('postgres');
    await using nats = await startNats({ tls: selfSigned, authorization: 'token: "right-token"' });
    await using plain = await startNats();
    const at = async (url: string): Promise<string> => {
      const log = await openSharedLog({
        address: parseNatsAddress(url)!,
        openStore: streamStore(db),
        log: silentLogger,
        exists: async () => false,
      });
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
