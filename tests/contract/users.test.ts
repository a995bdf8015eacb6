import { expect, test } from 'vitest';
import { arrive, refusal } from '../harness/people.ts';
import { describeOnPostgres, expectError, faults, newKey, ok, time, uuid } from './fixture.ts';
import { auditsOf, mapped } from './people-fixture.ts';

describeOnPostgres('invitations', (at) => {
  test('an invitation has the address in ASCII lower case, a manual role and no identity', async () => {
    const body = { email: 'ÉLISE.Ward@Example.COM', role: 'builder', name: 'Élise', status: 'active' };
    const response = await at().api.post('/users', body);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const invited = await ok(Promise.resolve(response));
    expect(invited).toEqual({
      id: expect.stringMatching(uuid),
      email: 'Élise.ward@example.com',
      email_verified: false,
      name: 'Élise',
      role: 'builder',
      role_source: 'manual',
      status: 'invited',
      identity: null,
      last_sign_in_at: null,
      last_confirmed_at: null,
      created_at: expect.stringMatching(time),
      updated_at: expect.stringMatching(time),
    });
    expect(await ok(at().api.get(`/users/${invited.id}`))).toEqual({ ...invited, claims: null });
    expect((await ok(at().api.get('/users'))).data[0]).toEqual(invited);
    expect(await auditsOf(at(), invited.id)).toMatchObject([
      { action: 'user.invite', details: { email: invited.email, role: 'builder', name: 'Élise' } },
    ]);
  });

  test('without a name it has the address, and control characters are left out of one', async () => {
    const { api } = at();
    expect((await ok(api.post('/users', { email: 'a1@example.com', role: 'member' }))).name).toBe(
      'a1@example.com',
    );
    const named = { email: 'a2@example.com', role: 'member', name: 'A\u0007\nB' };
    expect((await ok(api.post('/users', named))).name).toBe('AB');
  });

  test('an address that a person or an invitation has is refused with the id of that one', async () => {
    const { id } = await ok(at().api.post('/users', { email: 'twice@example.com', role: 'member' }));
    const again = await at().api.post('/users', { email: 'TWICE@example.com', role: 'admin' });
    expectError(again, 422, /email/, { user_id: id });
    expect(faults(again)).toEqual(['email']);
    const person = await mapped(at());
    const third = await at().api.post('/users', { email: person.email, role: 'admin' });
    expectError(third, 422, /email/, { user_id: person.id });
    // A look-alike is another address.
    await ok(at().api.post('/users', { email: '\u212aim@example.com', role: 'member' }));
    await ok(at().api.post('/users', { email: 'kim@example.com', role: 'member' }));
  });

  test('a missing field is 400, a wrong one 422', async () => {
    const { api } = at();
    expectError(await api.post('/users', { role: 'member' }), 400, /email/);
    expectError(await api.post('/users', { email: 'b@example.com' }), 400, /role/);
    expectError(await api.post('/users', { email: 'none' }), 400, /role/);
    for (const [fields, path] of [
      [{ email: 'none' }, 'email'],
      [{ email: 'a@b@example.com' }, 'email'],
      [{ email: null }, 'email'],
      [{ email: ['b@example.com'] }, 'email'],
      [{ role: 'root' }, 'role'],
      [{ role: null }, 'role'],
      [{ name: 5 }, 'name'],
      [{ name: 'x'.repeat(201) }, 'name'],
    ] as const) {
      const response = await api.post('/users', { email: 'b@example.com', role: 'member', ...fields });
      expectError(response, 422);
      expect(faults(response)).toEqual([path]);
    }
    expect((await ok(api.get('/users?email=b@example.com'))).data).toEqual([]);
  });
});

describeOnPostgres('the list of users', (at) => {
  test('is filtered by status, role, source, address in any case, and subject', async () => {
    const { api } = at();
    const member = await mapped(at());
    const builder = await mapped(at(), 'builder');
    const invited = await ok(api.post('/users', { email: 'list@example.com', role: 'admin' }));
    const lost = await mapped(at());
    await refusal(arrive(at().db, lost.subject));
    const ids = async (filter: string) =>
      (await ok(api.get(`/users?${filter}`))).data.map(({ id }: { id: string }) => id);
    expect(await ids('status=invited')).toEqual([invited.id]);
    expect(await ids('status=active')).toEqual([lost.id, builder.id, member.id]);
    expect(await ids('role=none')).toEqual([lost.id]);
    expect(await ids('role=builder')).toEqual([builder.id]);
    expect(await ids('role_source=manual')).toEqual([invited.id]);
    expect(await ids('role_source=default')).toEqual([lost.id]);
    expect(await ids('role_source=mapping&role=member')).toEqual([member.id]);
    expect(await ids('email=LIST@Example.com')).toEqual([invited.id]);
    expect(await ids('email=list')).toEqual([]);
    expect(await ids(`subject=${builder.subject}`)).toEqual([builder.id]);
    expect(await ids(`subject=${builder.subject.toUpperCase()}`)).toEqual([]);
    const first = await ok(api.get('/users?limit=1'));
    expect(first).toMatchObject({ has_more: true, data: [{ id: lost.id }] });
    expect((await ok(api.get(`/users?limit=1&next=${first.next}`))).data[0].id).toBe(invited.id);
    expect(first.data[0]).not.toHaveProperty('claims');
    for (const wrong of [
      'status=gone',
      'role=root',
      'role=',
      'role_source=x',
      'status=active&status=active',
    ]) {
      expectError(await api.get(`/users?${wrong}`), 422);
    }
  });

  test('is for admins only, like each operation on users', async () => {
    const { id } = await mapped(at());
    for (const role of ['member', 'builder']) {
      const { value } = await newKey(at(), role);
      const as = at().as(value);
      expectError(await as.get('/users'), 403);
      expectError(await as.get(`/users/${id}`), 403);
      expectError(await as.post('/users', { email: 'c@example.com', role: 'member' }), 403);
      expectError(await as.patch(`/users/${id}`, { role: 'admin' }), 403);
      expectError(await as.delete(`/users/${id}`), 403);
    }
    const { value } = await newKey(at(), 'admin', { scopes: ['access:read'] });
    await ok(at().as(value).get('/users'));
    expectError(await at().as(value).patch(`/users/${id}`, { role: 'admin' }), 403);
  });
});
