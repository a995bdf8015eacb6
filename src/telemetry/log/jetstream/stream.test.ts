import { expect, test, vi } from 'vitest';
import { describeWithNats, startNats } from '../../../../tests/harness/nats.ts';
import { until } from '../../../../tests/harness/wait.ts';
import type { Logger } from '../../../lib/log.ts';
import { LogStream } from './stream.ts';

describeWithNats('a user who may not all', () => {
  test('what the server does not permit fails in time, and the log says what it is', async () => {
    const mayNot = 'permissions: { publish: { deny: ["*.head"] } }';
    await using nats = await startNats({
      authorization: `users: [{ user: u, password: secret, ${mayNot} }]`,
    });
    const warn = vi.fn();
    const url = nats.url.replace('//', '//u:secret@');
    const stream = await LogStream.open(url, { warn, info: () => {} } as unknown as Logger);
    try {
      const published = stream.publish('head', Buffer.from('x'), {}, 'id', performance.now() + 200);
      await expect(published).rejects.toMatchObject({ name: 'TelemetryLogError', kind: 'failed' });
      await until(() => warn.mock.calls.length > 0, 2_000);
      const said = JSON.stringify(warn.mock.calls);
      expect(said).toContain('.head');
      expect(said).not.toContain('secret');
    } finally {
      await stream.close();
    }
  });
});
