import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { adminKey } from '../harness/process.ts';
import { type Fixture, newKey, ok, query, withPlatform } from './fixture.ts';
import { browser, newPerson, newPersonSession, signIn } from './sessions-fixture.ts';

type Cookie = { cookie: string };

describe('an open stream', () =>
  withPlatform('postgres', (at) => {
    /**
     * Opens an export of 40 MB, far more than the buffers of a connection hold, and does not read on until 7 s after
     * `end`. Resolves to whether the export was cut off by then.
     */
    const isCutOff = async ({ cookie }: Cookie, end: () => Promise<unknown>): Promise<boolean> => {
      const response = await fetch(`${at().test.origin}/api/v2/audits/export`, {
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
      });
      expect(response.status).toBe(200);
      const reader = response.body!.getReader();
      await reader.read();
      await end();
      await sleep(7_000);
      try {
        while (!(await reader.read()).done);
        return false;
      } catch {
        return true;
      }
    };

    const endings: [string, (fixture: Fixture) => Promise<[Cookie, () => Promise<unknown>]>][] = [
      [
        'its session is revoked',
        async (fixture) => {
          const { cookie, me } = await signIn(fixture, adminKey);
          return [{ cookie }, () => ok(fixture.app.delete(`/sessions/${me.session.id}`), 204)];
        },
      ],
      [
        'the key of its session is revoked',
        async (fixture) => {
          const key = await newKey(fixture, 'admin');
          const { cookie } = await signIn(fixture, key.value);
          return [{ cookie }, () => ok(fixture.api.delete(`/api-keys/${key.id}`), 204)];
        },
      ],
      [
        'its person loses the role that it requires',
        async (fixture) => {
          const id = await newPerson(fixture, 'admin');
          const { cookie } = await newPersonSession(fixture, id);
          return [{ cookie }, () => ok(fixture.api.patch(`/users/${id}`, { role: 'builder' }))];
        },
      ],
      [
        'its session has been idle for too long',
        async (fixture) => {
          const { cookie, me } = await signIn(fixture, adminKey);
          await ok(browser(fixture, cookie).get('/me'));
          const { id } = me.session;
          const idle = sql`update sessions set last_seen_at = last_seen_at - interval '8 hours' where id = ${id}`;
          return [{ cookie }, () => query(fixture, idle)];
        },
      ],
    ];

    test('is cut off within seconds when its session ends, however it ends', async () => {
      await at()
        .sql`insert into audits (id, principal_kind, principal_id, principal_name, action, target_type, outcome, details, position, hash)
          select gen_random_uuid(), 'system', 'x', 'x', 'x.y', 'x', 'done', jsonb_build_object('x', repeat('x', 8000)), n, 'x'
          from generate_series(1000000, 1005000) n`;
      // A person who stays an admin, so that the other may lose the role.
      await newPerson(at(), 'admin', 'Bob');
      const { cookie } = await signIn(at(), adminKey);
      const cut = await Promise.all([
        isCutOff({ cookie }, async () => {}),
        ...endings.map(async ([, prepare]) => isCutOff(...(await prepare(at())))),
      ]);
      expect(cut).toEqual([false, ...endings.map(() => true)]);
    });
  }));
