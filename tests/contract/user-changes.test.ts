import { expect, test } from 'vitest';
import { admitted, arrive, newSession, refusal } from '../harness/people.ts';
import { describeOnPostgres, expectError, type Fixture, faults, newKey, ok } from './fixture.ts';
import { auditsOf, mapped, newPerson, sessionsOf } from './people-fixture.ts';

describeOnPostgres('a change of a user', (at) => {
  const patch = (id: string, body: object) => at().api.patch(`/users/${id}`, body);

  test('a role is set by hand: the entry has before, after, and how much it touched', async () => {
    const { id } = await mapped(at());
    await newSession(at().db, id);
    expect(await ok(patch(id, { role: 'builder', name: 'ignored' }))).toMatchObject({
      role: 'builder',
      role_source: 'manual',
      status: 'active',
    });
    expect(await sessionsOf(at(), id)).toBe(1);
    const [entry] = await auditsOf(at(), id);
    expect(entry).toMatchObject({
      action: 'user.role_change',
      principal: { id: 'bootstrap' },
      details: {
        before: { role: 'member', role_source: 'mapping' },
        after: { role: 'builder', role_source: 'manual' },
        keys: 0,
        sessions: 1,
      },
    });
    // Pinned with the role that the mapping gives.
    const pinned = await mapped(at());
    expect(await ok(patch(pinned.id, { role: 'member' }))).toMatchObject({ role_source: 'manual' });
  });

  test('the mappings take a role back, computed from the kept claims', async () => {
    const { id } = await mapped(at(), 'member');
    await ok(patch(id, { role: 'builder' }));
    expect(await ok(patch(id, { role_source: 'mapping' }))).toMatchObject({
      role: 'member',
      role_source: 'mapping',
    });
    const shown = await ok(at().api.get(`/users/${id}`));
    expect(shown.claims).toMatchObject({ team: 'a member' });
    // Nothing matches any more: no access, and the sessions end.
    const other = await mapped(at(), 'member');
    await ok(patch(other.id, { role: 'builder' }));
    const person = await admitted(arrive(at().db, other.subject, { team: 'left' }));
    expect(person).toMatchObject({ role: 'builder', role_source: 'manual' });
    await newSession(at().db, other.id);
    expect(await ok(patch(other.id, { role_source: 'mapping' }))).toMatchObject({
      role: null,
      role_source: 'default',
      status: 'active',
    });
    expect(await sessionsOf(at(), other.id)).toBe(0);
  });

  test('what changes nothing writes no entry and leaves updated_at', async () => {
    const { id } = await mapped(at());
    const before = await ok(at().api.get(`/users/${id}`));
    const entries = (await auditsOf(at(), id)).length;
    for (const body of [
      {},
      { name: 'x', email: 'x@example.com' },
      { status: 'active' },
      { role_source: 'mapping' },
    ]) {
      await ok(patch(id, body));
    }
    expect(await ok(at().api.get(`/users/${id}`))).toEqual(before);
    const { id: invited } = await ok(at().api.post('/users', { email: 'same@example.com', role: 'member' }));
    await ok(patch(invited, { role: 'member', identity: null }));
    expect((await auditsOf(at(), id)).length).toBe(entries);
    expect((await auditsOf(at(), invited)).length).toBe(1);
  });

  test('what is wrong is 422, whatever the state is', async () => {
    const { id } = await mapped(at());
    const { id: invited } = await ok(at().api.post('/users', { email: 'wrong@example.com', role: 'member' }));
    for (const user of [id, invited]) {
      for (const [body, path] of [
        [{ role: 'member', role_source: 'mapping' }, 'role_source'],
        [{ role: null }, 'role'],
        [{ role: 'none' }, 'role'],
        [{ role_source: 'manual' }, 'role_source'],
        [{ role_source: 'default' }, 'role_source'],
        [{ role_source: null }, 'role_source'],
        [{ status: 'invited' }, 'status'],
        [{ status: null }, 'status'],
        [{ identity: { issuer: 'https://id.example', subject: 'x' } }, 'identity'],
        [{ identity: {} }, 'identity'],
        [{ identity: 'x' }, 'identity'],
      ] as const) {
        const response = await patch(user, body);
        expectError(response, 422);
        expect(faults(response)).toEqual([path]);
      }
    }
    expectError(await at().api.raw('PATCH', `/users/${id}`), 400);
  });

  test('an invitation takes a role and a suspension, but is not active and has no mappings', async () => {
    const { id } = await ok(at().api.post('/users', { email: 'state@example.com', role: 'member' }));
    expectError(await patch(id, { status: 'active' }), 412, /signs in/);
    expectError(await patch(id, { role_source: 'mapping' }), 412, /signs in/);
    expect(await ok(patch(id, { role: 'admin' }))).toMatchObject({ role: 'admin', status: 'invited' });
    expect(await ok(patch(id, { status: 'suspended' }))).toMatchObject({
      status: 'suspended',
      identity: null,
    });
    expectError(await patch(id, { status: 'active' }), 412, /signs in/);
    expect(
      await refusal(arrive(at().db, 'state', { email: 'state@example.com', email_verified: true })),
    ).toBe('no_role');
  });

  test('a suspended person has no sessions, keys that pause, and no sign-in, until activated', async () => {
    const { id, value } = await newPerson(at());
    await newSession(at().db, id);
    await ok(at().as(value).get('/agents'));
    expect(await ok(patch(id, { status: 'suspended' }))).toMatchObject({
      status: 'suspended',
      role: 'builder',
    });
    expectError(await at().as(value).get('/agents'), 401, /suspended/);
    expect(await sessionsOf(at(), id)).toBe(0);
    expect(await refusal(arrive(at().db, id))).toBe('suspended');
    expect(await ok(patch(id, { status: 'active' }))).toMatchObject({ status: 'active' });
    await ok(at().as(value).get('/agents'));
    const [activated, suspended] = await auditsOf(at(), id);
    expect(activated).toMatchObject({
      action: 'user.activate',
      details: { before: { status: 'suspended' }, after: { status: 'active' }, keys: 1, sessions: 0 },
    });
    expect(suspended).toMatchObject({
      action: 'user.suspend',
      details: { before: { status: 'active' }, after: { status: 'suspended' }, keys: 1, sessions: 1 },
    });
  });

  test('an unbound person is an invitation again, which the next verified e-mail binds', async () => {
    const { id, subject, email } = await mapped(at(), 'builder');
    await newSession(at().db, id);
    expect(await ok(patch(id, { identity: null }))).toMatchObject({
      identity: null,
      status: 'invited',
      role: 'builder',
      role_source: 'mapping',
    });
    expect(await sessionsOf(at(), id)).toBe(0);
    expect((await auditsOf(at(), id))[0]).toMatchObject({
      action: 'user.unbind',
      details: { before: { identity: { subject } }, after: { identity: null }, sessions: 1 },
    });
    // A role that was not set by hand is computed at the sign-in that binds.
    const bound = await admitted(
      arrive(at().db, `${subject}-new`, { email, email_verified: true, team: 'a member' }),
    );
    expect(bound).toMatchObject({ id, subject: `${subject}-new`, role: 'member', status: 'active' });
  });

  test('a person whom no sign-in could bind again is not unbound', async () => {
    const { id } = await mapped(at(), 'member', { email_verified: false });
    expectError(await patch(id, { identity: null }), 412, /verified/);
    const taken = await mapped(at());
    const email = `${taken.subject}-moved@example.com`;
    await ok(at().api.post('/users', { email, role: 'member' }));
    await admitted(arrive(at().db, taken.subject, { team: 'a member', email, email_verified: true }));
    expectError(await patch(taken.id, { identity: null }), 412, /invitation/);
    expect(await ok(at().api.get(`/users/${taken.id}`))).toMatchObject({ status: 'active', email });
  });

  test('unbinding does not lift a suspension', async () => {
    const { id, subject, email } = await mapped(at());
    await ok(patch(id, { status: 'suspended' }));
    expect(await ok(patch(id, { identity: null }))).toMatchObject({ status: 'suspended', identity: null });
    const again = await arrive(at().db, `${subject}-new`, { email, email_verified: true });
    expect(again).toMatchObject({ user: null, refusal: { reason: 'no_role' } });
  });
});

describeOnPostgres('the deletion of a user', (at) => {
  test('ends keys and sessions, and is no ban', async () => {
    const { id, value } = await newPerson(at());
    const service = await newKey(at(), 'member', {}, at().as(value));
    await newSession(at().db, id);
    await ok(at().api.delete(`/users/${id}`), 204);
    expectError(await at().as(value).get('/agents'), 401);
    expectError(await at().as(service.value).get('/agents'), 401);
    expect(await sessionsOf(at(), id)).toBe(0);
    expectError(await at().api.get(`/users/${id}`), 404);
    const [entry] = await auditsOf(at(), id);
    expect(entry).toMatchObject({
      action: 'user.delete',
      details: {
        before: { role: 'builder', status: 'active', identity: { subject: id } },
        after: null,
        keys: 2,
        sessions: 1,
        ended_keys: [],
      },
    });
    const gone = await mapped(at());
    await ok(at().api.delete(`/users/${gone.id}`), 204);
    const back = await admitted(arrive(at().db, gone.subject, { team: 'a member' }));
    expect(back.id).not.toBe(gone.id);
  });
});

describeOnPostgres('the last administrator', (at) => {
  const ways: [string, (id: string) => ReturnType<Fixture['api']['patch']>][] = [
    ['a lower role', (id) => at().api.patch(`/users/${id}`, { role: 'builder' })],
    ['the mappings', (id) => at().api.patch(`/users/${id}`, { role_source: 'mapping' })],
    ['a suspension', (id) => at().api.patch(`/users/${id}`, { status: 'suspended' })],
    ['unbinding', (id) => at().api.patch(`/users/${id}`, { identity: null })],
    ['a deletion', (id) => at().api.delete(`/users/${id}`)],
  ];

  test('stays: invited and suspended people and keys do not count', async () => {
    await ok(at().api.post('/users', { email: 'boss@example.com', role: 'admin' }));
    const boss = { email: 'boss@example.com', email_verified: true };
    const { id } = await admitted(arrive(at().db, 'boss', boss));
    await newSession(at().db, id);
    await ok(at().api.post('/users', { email: 'later@example.com', role: 'admin' }));
    const { id: suspended } = await newPerson(at(), 'admin');
    await ok(at().api.patch(`/users/${suspended}`, { status: 'suspended' }));
    const before = await ok(at().api.get(`/users/${id}`));
    const entries = await auditsOf(at(), id);
    for (const [way, attempt] of ways) {
      expectError(await attempt(id), 412, /administrator/);
      expect(await ok(at().api.get(`/users/${id}`)), way).toEqual(before);
    }
    expect(await sessionsOf(at(), id)).toBe(1);
    expect(await auditsOf(at(), id)).toEqual(entries);
    // A change that leaves the role is no loss.
    await ok(at().api.patch(`/users/${id}`, { role: 'admin' }));
    await ok(at().api.patch(`/users/${suspended}`, { status: 'active' }));
    await ok(at().api.delete(`/users/${id}`), 204);
    expectError(await at().api.delete(`/users/${suspended}`), 412);
  });
});
