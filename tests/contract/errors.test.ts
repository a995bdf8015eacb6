import { describe, expect, test } from 'vitest';
import { uuid, withPlatform } from './fixture.ts';

describe('an internal error', () =>
  withPlatform('postgres', (at) => {
    test('is 500 with an error_id and shows nothing internal', async () => {
      await at().sql`alter table agents rename to agents_away`;
      for (const response of [
        await at().api.get('/agents'),
        await at().api.post('/agents', { name: 'x', mode: 'worker' }),
      ]) {
        expect(response.status).toBe(500);
        expect(response.body).toEqual({
          error: {
            error_id: expect.stringMatching(uuid),
            code: 'internal_error',
            message: expect.stringMatching(/^Something went wrong/),
          },
        });
        expect(response.text).not.toMatch(/agents|relation|42P01|stack|\.ts/);
      }
      await at().sql`alter table agents_away rename to agents`;
      expect((await at().api.get('/agents')).status).toBe(200);
    });

    test('inside a transaction leaves nothing behind, and does not use up its Idempotency-Key', async () => {
      await at().sql`alter table audits rename to audits_away`;
      const options = { headers: { 'idempotency-key': 'broken' } };
      expect((await at().api.post('/agents', { name: 'half', mode: 'worker' }, options)).status).toBe(500);
      await at().sql`alter table audits_away rename to audits`;
      expect(await at().sql`select 1 from agents where name = 'half'`).toEqual([]);
      const again = await at().api.post('/agents', { name: 'half', mode: 'worker' }, options);
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
    });
  }));
