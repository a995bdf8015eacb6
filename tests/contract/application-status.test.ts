import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { version } from '../../src/lib/version.ts';
import type { Fixture } from './fixture.ts';
import { newKey, ok, onPostgres, time, useReplicas } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

describe('the status of the platform', () => {
  onPostgres((at) => {
    const status = (): Promise<Json> => ok(at().app.get('/status'));

    test('names this replica with its loops, the database and the telemetry log', async () => {
      await expect.poll(async () => (await status()).scheduling.alive).toBe(true);
      const shown = await status();
      expect(shown.version).toBe(version);
      expect(shown.replicas[0]).toMatchObject({
        name: hostname(),
        roles: ['api', 'scheduler', 'worker', 'delivery'],
        version,
        state: 'alive',
        stopped_at: null,
      });
      const { loops } = shown.replicas[0];
      expect(loops.length).toBeGreaterThan(5);
      expect(loops.every(({ failing }: Json) => !failing)).toBe(true);
      expect(shown.scheduling).toEqual({ alive: true, last_at: expect.stringMatching(time) });
      const { roles } = shown.replicas[0];
      expect(shown.roles).toMatchObject(roles.map((role: string) => ({ role, alive: 1 })));
      expect(shown.database.kind).toBe(at().db.kind);
      expect(shown.database.version).toMatch(/^\d+/);
      expect(shown.database.size_bytes).toBeGreaterThan(1_000_000);
      expect(shown.telemetry_log).toMatchObject({ kind: 'files', retention_hours: 72, retention_mb: 10_240 });
    });

    test('a replica that was lost or stopped is shown, with what its loops did last', async () => {
      const [lost, stopped] = [newId(), newId()];
      await at().sql`insert into replicas (id, name, roles, version, seen_at, stopped_at, loops) values
          (${lost}, 'lost', '{worker}', '0.9', platform_now() - interval '1 hour', null,
            '[{"name": "firing", "idle_ms": 2000, "error": "connect ECONNREFUSED 10.0.0.5:5432"}]'),
          (${stopped}, 'stopped', '{scheduler}', '0.9', platform_now() - interval '2 hours',
            platform_now() - interval '2 hours', '[]')`;
      const { replicas } = await status();
      expect(replicas.slice(1).map(({ id, state }: Json) => [id, state])).toEqual([
        [lost, 'silent'],
        [stopped, 'stopped'],
      ]);
      const [loop] = replicas[1].loops;
      expect(Date.parse(replicas[1].seen_at) - Date.parse(loop.last_pass_at)).toBe(2_000);
      expect(loop).toMatchObject({ failing: true, error: 'connect ECONNREFUSED 10.0.0.5:5432' });
    });

    test('a member sees who runs, but no texts of errors and nothing of the audit log', async () => {
      const { value } = await newKey(at(), 'member');
      const shown = await ok(at().as(value, '/app/api').get('/status'));
      expect(shown.audit).toBeNull();
      const loops = shown.replicas.flatMap((one: Json) => one.loops);
      const errors = loops.filter(({ failing }: Json) => failing).map(({ error }: Json) => error);
      expect(new Set(errors)).toEqual(new Set([null]));
      const limited = await newKey(at(), 'admin', { scopes: ['observability:read'] });
      expect((await ok(at().as(limited.value, '/app/api').get('/status'))).audit).toBeNull();
    });

    test('the chain of the audit log is whole until a verification finds that it is not', async () => {
      await expect.poll(async () => (await status()).audit.unchained).toBe(0);
      const whole = (await status()).audit;
      expect(whole).toMatchObject({ state: 'whole', first_position: 1, fault: null });
      expect(whole.last_position).toBeGreaterThan(1);
      // As someone with the database's password would do it.
      const tamper = (name: string) =>
        at().sql`with off as (select set_config('session_replication_role', 'replica', true))
          update audits set principal_name = ${name} from off where position = 2 returning audits.principal_name`;
      const [{ principal_name }] = await at().sql`select principal_name from audits where position = 2`;
      await tamper('someone else');
      expect((await ok(at().api.get('/audits/verify'))).ok).toBe(false);
      expect((await status()).audit).toMatchObject({
        state: 'broken',
        fault: { position: 2, text: expect.stringContaining('position 2') },
      });
      await tamper(principal_name);
      expect((await ok(at().api.get('/audits/verify'))).ok).toBe(true);
      expect((await status()).audit.state).toBe('whole');
    });
  });

  describe('of two replicas', () => {
    let replicas: Fixture[] = [];
    useReplicas((a, b) => {
      replicas = [a, b];
    });

    test('both are named, by whichever responds', async () => {
      for (const one of replicas) {
        const shown = async () => (await ok(one.app.get('/status'))).roles[0].alive;
        await expect.poll(shown).toBe(2);
      }
    });
  });
});
