import { expect, test } from 'vitest';
import { silentLogger } from '../lib/log.ts';
import { createFastify } from './fastify.ts';

test('a request has a minute to arrive, its headers too', async () => {
  const app = createFastify(silentLogger);
  // Node looks for those that took longer every 30 s: too long for a test to see one end.
  const { requestTimeout, headersTimeout } = app.server;
  expect([requestTimeout, headersTimeout]).toEqual([60_000, 60_000]);
  await app.close();
});
