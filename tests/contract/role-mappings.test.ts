import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import {
  expectError,
  type Fixture,
  faults,
  newKey,
  ok,
  onPostgres,
  query,
  time,
  unknownId,
  uuid,
} from './fixture.ts';

const map = (at: Fixture, claim: string, value: string, role = 'member', priority?: number) =>
  ok(at.api.post('/role-mappings', { claim, value, role, priority }));
describe('role mappings', () => {
  onPostgres((at) => {
    test('a mapping is created, read, changed and deleted', async () => {
      const made = await map(at(), 'groups', 'Night shift');
      expect(made).toEqual({
        id: expect.stringMatching(uuid),
        claim: 'groups',
        value: 'Night shift',
        role: 'member',
        priority: 0,
        created_at: expect.stringMatching(time),
        updated_at: expect.stringMatching(time),
      });
      const path = `/role-mappings/${made.id}`;
      expect(await ok(at().api.get(path))).toEqual(made);
      expect((await ok(at().api.get('/role-mappings'))).data).toEqual([made]);
      const changed = await ok(at().api.patch(path, { priority: 1_000, claim: '/realm/~0~1', extra: 1 }));
      expect(changed).toMatchObject({ claim: '/realm/~0~1', value: 'Night shift', priority: 1_000 });
      expect(await ok(at().api.patch(path, { priority: 1_000 }))).toEqual(changed);
      expect(await ok(at().api.patch(path, {}))).toEqual(changed);
      await ok(at().api.delete(path), 204);
      for (const gone of [at().api.get(path), at().api.patch(path, {}), at().api.delete(path)]) {
        expectError(await gone, 404);
      }
      expectError(await at().api.get(`/role-mappings/${unknownId}`), 404);
      expectError(await at().api.get('/role-mappings/x'), 404);
      const entries = (await ok(at().api.get(`/audits?target_id=${made.id}`))).data;
      expect(
        entries.map(
          ({ action, details: { before, after } }: { action: string; details: Record<string, object> }) => [
            action,
            before && Object.keys(before).length,
            after && Object.keys(after).length,
          ],
        ),
      ).toEqual([
        ['role_mapping.delete', 4, null],
        ['role_mapping.update', 4, 4],
        ['role_mapping.create', null, 4],
      ]);
    });

    test('what is missing is 400, what is wrong 422', async () => {
      const { api } = at();
      const good = { claim: 'faults', value: 'x', role: 'member' };
      const { id } = await ok(api.post('/role-mappings', good));
      for (const name of ['claim', 'value', 'role'] as const) {
        expectError(await api.post('/role-mappings', { ...good, [name]: undefined }), 400, new RegExp(name));
      }
      for (const [fields, path] of [
        [{ claim: '' }, 'claim'],
        [{ claim: 'x'.repeat(201) }, 'claim'],
        [{ claim: '/a~2' }, 'claim'],
        [{ claim: '/~' }, 'claim'],
        [{ claim: 5 }, 'claim'],
        [{ claim: 'a\u0000' }, 'claim'],
        [{ value: '' }, 'value'],
        [{ value: 'x'.repeat(501) }, 'value'],
        [{ value: true }, 'value'],
        [{ role: 'none' }, 'role'],
        [{ role: null }, 'role'],
        [{ priority: -1 }, 'priority'],
        [{ priority: 1_001 }, 'priority'],
        [{ priority: 0.5 }, 'priority'],
        [{ priority: '1' }, 'priority'],
      ] as const) {
        for (const response of [
          await api.post('/role-mappings', { ...good, value: 'y', ...fields }),
          await api.patch(`/role-mappings/${id}`, fields),
        ]) {
          expectError(response, 422);
          expect(faults(response)).toEqual([path]);
        }
      }
      expectError(await api.patch(`/role-mappings/${id}`, { priority: null }), 422);
      await ok(
        api.post('/role-mappings', { claim: '🌙'.repeat(200), value: '🌙'.repeat(500), role: 'member' }),
      );
    });

    test('the same claim and value is refused, on create and on change, but not another case', async () => {
      const { api } = at();
      const first = await map(at(), 'pair', 'x');
      const second = await map(at(), 'pair', 'X', 'admin');
      expectError(
        await api.post('/role-mappings', { claim: 'pair', value: 'x', role: 'admin' }),
        422,
        /claim/,
      );
      expectError(await api.patch(`/role-mappings/${second.id}`, { value: 'x' }), 422);
      await ok(api.patch(`/role-mappings/${first.id}`, { value: 'x', role: 'builder' }));
      expect(await ok(api.get(`/role-mappings/${second.id}`))).toEqual(second);
    });

    test('there are at most 500', async () => {
      const { n } = (await query(at(), sql`select count(*)::int as n from role_mappings`))[0];
      await query(
        at(),
        sql`insert into role_mappings (id, claim, value, role)
          select gen_random_uuid(), 'filler', i::text, 'member' from generate_series(1, ${499 - n}::int) i`,
      );
      const { id } = await map(at(), 'filler', 'the 500th');
      expectError(
        await at().api.post('/role-mappings', { claim: 'a', value: 'b', role: 'member' }),
        422,
        /500/,
      );
      await ok(at().api.patch(`/role-mappings/${id}`, { priority: 1 }));
      await ok(at().api.delete(`/role-mappings/${id}`), 204);
      await map(at(), 'filler', 'the 500th');
      await query(at(), sql`delete from role_mappings where claim = 'filler'`);
    });

    test('is for admins only', async () => {
      const { id } = await map(at(), 'roles', 'x');
      const { value } = await newKey(at(), 'builder');
      const as = at().as(value);
      expectError(await as.get('/role-mappings'), 403);
      expectError(await as.get(`/role-mappings/${id}`), 403);
      expectError(await as.post('/role-mappings', { claim: 'a', value: 'b', role: 'admin' }), 403);
      expectError(await as.patch(`/role-mappings/${id}`, { role: 'admin' }), 403);
      expectError(await as.delete(`/role-mappings/${id}`), 403);
      expectError(await as.post('/role-mappings/preview', { claims: {} }), 403);
      const limited = await newKey(at(), 'admin', { scopes: ['access:read'] });
      await ok(at().as(limited.value).post('/role-mappings/preview', { claims: {} }));
    });
  });
});
