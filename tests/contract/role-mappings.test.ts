import { expect, test } from 'vitest';
import { describeOnPostgres, expectError, type Fixture, faults, ok, time, uuid } from './fixture.ts';

const map = (at: Fixture, claim: string, value: string, role = 'member', priority?: number) =>
  ok(at.api.post('/role-mappings', { claim, value, role, priority }));
describeOnPostgres('role mappings', (at) => {
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

  test('a claim is a name or a JSON Pointer; texts are counted in characters', async () => {
    const { api } = at();
    const good = { claim: 'faults', value: 'x', role: 'member' };
    const { id } = await ok(api.post('/role-mappings', good));
    for (const claim of ['/a~2', '/~']) {
      for (const response of [
        await api.post('/role-mappings', { ...good, value: 'y', claim }),
        await api.patch(`/role-mappings/${id}`, { claim }),
      ]) {
        expectError(response, 422);
        expect(faults(response)).toEqual(['claim']);
      }
    }
    await ok(
      api.post('/role-mappings', { claim: '🌙'.repeat(200), value: '🌙'.repeat(500), role: 'member' }),
    );
  });

  test('the same claim and value is refused, on create and on change, but not another case', async () => {
    const { api } = at();
    const first = await map(at(), 'pair', 'x');
    const second = await map(at(), 'pair', 'X', 'admin');
    expectError(await api.post('/role-mappings', { claim: 'pair', value: 'x', role: 'admin' }), 422, /claim/);
    expectError(await api.patch(`/role-mappings/${second.id}`, { value: 'x' }), 422);
    await ok(api.patch(`/role-mappings/${first.id}`, { value: 'x', role: 'builder' }));
    expect(await ok(api.get(`/role-mappings/${second.id}`))).toEqual(second);
  });

  test('there are at most 500', async () => {
    const { n } = (await at().sql`select count(*)::int as n from role_mappings`)[0];
    await at().sql`insert into role_mappings (id, claim, value, role)
          select gen_random_uuid(), 'filler', i::text, 'member' from generate_series(1, ${499 - n}::int) i`;
    const { id } = await map(at(), 'filler', 'the 500th');
    expectError(
      await at().api.post('/role-mappings', { claim: 'a', value: 'b', role: 'member' }),
      422,
      /500/,
    );
    await ok(at().api.patch(`/role-mappings/${id}`, { priority: 1 }));
    await ok(at().api.delete(`/role-mappings/${id}`), 204);
    await map(at(), 'filler', 'the 500th');
    await at().sql`delete from role_mappings where claim = 'filler'`;
  });
});
