import { expect, test } from 'vitest';
import { admitted, arrive, newSession } from '../harness/people.ts';
import { describeOnPostgres, expectError, type Fixture, ok, setSettings } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

const map = (at: Fixture, claim: string, value: string, role = 'member', priority?: number) =>
  ok(at.api.post('/role-mappings', { claim, value, role, priority }));
const person = (at: Fixture, id: string) => ok(at.api.get(`/users/${id}`));
/** Without their places in the chain, which a loop fills in. */
const entriesOf = async (at: Fixture, id: string, action = 'user.role_change') =>
  (await ok(at.api.get(`/audits?target_id=${id}&action=${action}`))).data.map((entry: object) => ({
    ...entry,
    position: undefined,
    hash: undefined,
  }));

describeOnPostgres('a change of mappings', (at) => {
  test('takes effect at once for everyone whose role is not manual, from the kept claims', async () => {
    const mapping = await map(at(), 'groups', 'ops', 'member');
    const { id } = await admitted(arrive(at().db, 'ops', { groups: ['ops', 'dev'] }));
    const { id: byHand } = await admitted(arrive(at().db, 'hand', { groups: ['ops'] }));
    await ok(at().api.patch(`/users/${byHand}`, { role: 'member' }));
    const { id: other } = await admitted(arrive(at().db, 'other', { groups: ['ops'] }));
    await ok(at().api.patch(`/users/${other}`, { status: 'suspended' }));
    await newSession(at().db, id);

    const stronger = await map(at(), 'groups', 'dev', 'builder');
    expect(await person(at(), id)).toMatchObject({ role: 'builder', role_source: 'mapping' });
    expect((await entriesOf(at(), id))[0].details).toMatchObject({
      before: { role: 'member', role_source: 'mapping' },
      after: { role: 'builder', role_source: 'mapping' },
      reason: 'role_mapping.create',
      role_mapping: { id: stronger.id, claim: 'groups', value: 'dev' },
      keys: 0,
      sessions: 1,
    });
    await ok(at().api.patch(`/role-mappings/${mapping.id}`, { priority: 7 }));
    expect(await person(at(), id)).toMatchObject({ role: 'member' });
    expect(await at().sql`select 1 as one from sessions where user_id = ${id}`).toEqual([{ one: 1 }]);

    await ok(at().api.delete(`/role-mappings/${stronger.id}`), 204);
    await ok(at().api.delete(`/role-mappings/${mapping.id}`), 204);
    expect(await person(at(), id)).toMatchObject({ role: null, role_source: 'default', status: 'active' });
    expect(await person(at(), other)).toMatchObject({ role: null, status: 'suspended' });
    expect(await person(at(), byHand)).toMatchObject({ role: 'member', role_source: 'manual' });
    expect(await at().sql`select 1 as one from sessions where user_id = ${id}`).toEqual([]);
    expect((await entriesOf(at(), id)).length).toBe(3);
    expect((await entriesOf(at(), byHand)).length).toBe(1);
    const [end] = (await ok(at().api.get('/audits?action=session.end'))).data;
    expect(end.details).toMatchObject({ reason: 'role_lost', user_id: id });
  });

  test('reaches the keys of a person at once', async () => {
    const { id, value } = await newPerson(at(), 'member');
    await at().sql`update users set role_source = 'mapping', claims = '{"team": "keys"}' where id = ${id}`;
    const mapping = await map(at(), 'team', 'keys', 'builder');
    await ok(at().as(value).post('/agents', { name: 'x', mode: 'worker' }));
    await ok(at().api.delete(`/role-mappings/${mapping.id}`), 204);
    expectError(await at().as(value).get('/agents'), 401, /role/);
    await setSettings(at(), { DEFAULT_ROLE: 'member' });
    await ok(at().as(value).get('/agents'));
    await setSettings(at(), { DEFAULT_ROLE: 'none' });
    expectError(await at().as(value).get('/agents'), 401);
  });

  test('leaves those alone whose kept claims are incomplete for the new set', async () => {
    await map(at(), 'team', 'partial', 'builder');
    const claims = { team: 'partial', _claim_names: { groups: 'src1' } };
    const { id } = await admitted(arrive(at().db, 'partial', claims));
    const before = await person(at(), id);
    const mapping = await map(at(), 'groups', 'partial', 'member', 9);
    expect(await person(at(), id)).toEqual(before);
    const preview = await ok(at().api.post('/role-mappings/preview', { user_id: id }));
    expect(preview).toMatchObject({ role: 'builder', role_source: 'mapping', incomplete: ['groups'] });
    await ok(at().api.delete(`/role-mappings/${mapping.id}`), 204);
  });

  test('a change of DEFAULT_ROLE is evaluated for everyone, with one entry each', async () => {
    const first = await map(at(), 'team', 'default', 'member');
    const { id } = await admitted(arrive(at().db, 'default', { team: 'default' }));
    await setSettings(at(), { DEFAULT_ROLE: 'builder' });
    expect(await person(at(), id)).toMatchObject({ role: 'member', role_source: 'mapping' });
    await ok(at().api.delete(`/role-mappings/${first.id}`), 204);
    expect(await person(at(), id)).toMatchObject({ role: 'builder', role_source: 'default' });
    await newSession(at().db, id);
    await setSettings(at(), { DEFAULT_ROLE: 'member', MAX_API_KEY_DAYS: 0 });
    await setSettings(at(), { DEFAULT_ROLE: 'member' });
    expect(await person(at(), id)).toMatchObject({ role: 'member', role_source: 'default' });
    const entries = await entriesOf(at(), id);
    expect(entries.length).toBe(2);
    expect(entries[0].details).toMatchObject({ reason: 'DEFAULT_ROLE', role_mapping: null, sessions: 1 });
    // The role stays and comes from elsewhere: an update, not a change of role.
    await map(at(), 'team', 'default', 'member');
    expect((await entriesOf(at(), id)).length).toBe(2);
    expect((await entriesOf(at(), id, 'user.update'))[0].details).toMatchObject({
      before: { role: 'member', role_source: 'default' },
      after: { role: 'member', role_source: 'mapping' },
    });
    await setSettings(at(), { DEFAULT_ROLE: 'none' });
  });

  test('is refused where it would leave no administrator, and then nothing changed', async () => {
    const { api } = at();
    const boss = await map(at(), 'team', 'boss', 'admin');
    const { id } = await admitted(arrive(at().db, 'boss', { team: 'boss', email: 'boss@example.com' }));
    await api.post('/users', { email: 'invited@example.com', role: 'admin' });
    const before = [await person(at(), id), await ok(api.get('/role-mappings')), await entriesOf(at(), id)];
    const rivals = { claim: 'email', value: 'boss@example.com', role: 'member', priority: 1 };
    for (const attempt of [
      () => api.patch(`/role-mappings/${boss.id}`, { role: 'builder' }),
      () => api.patch(`/role-mappings/${boss.id}`, { value: 'Boss' }),
      () => api.patch(`/role-mappings/${boss.id}`, { claim: '/team/x' }),
      () => api.delete(`/role-mappings/${boss.id}`),
      () => api.post('/role-mappings', { ...rivals, claim: '/sub', value: 'boss' }),
    ]) {
      expectError(await attempt(), 412, /administrator/);
      expect([
        await person(at(), id),
        await ok(api.get('/role-mappings')),
        await entriesOf(at(), id),
      ]).toEqual(before);
    }
    // Not verified: the mapping does not match.
    await ok(api.post('/role-mappings', rivals));
    const preview = await ok(api.post('/role-mappings/preview', { mappings: [] }));
    expect(preview).toMatchObject({ leaves_no_admin: true });
  });
});
