import { expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { admitted, arrive } from '../harness/people.ts';
import { describeOnPostgres, expectError, type Fixture, faults, ok, query, unknownId } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

const map = (at: Fixture, claim: string, value: string, role = 'member', priority?: number) =>
  ok(at.api.post('/role-mappings', { claim, value, role, priority }));
const person = (at: Fixture, id: string) => ok(at.api.get(`/users/${id}`));

describeOnPostgres('the preview', (at) => {
  const preview = (body: object) => ok(at().api.post('/role-mappings/preview', body));
  const rule = (claim: string, value: string, role: string, priority = 0) => ({
    claim,
    value,
    role,
    priority,
  });

  test('says what matches, what decides and why the rest does not', async () => {
    const high = await map(at(), 'groups', 'ops', 'builder', 5);
    const low = await map(at(), '/realm_access/roles', 'boss', 'admin');
    const dotted = await map(at(), 'realm_access.roles', 'boss', 'admin');
    const mail = await map(at(), 'email', '@example.com', 'member');
    const got = await preview({
      claims: { groups: ['ops', 'dev'], realm_access: { roles: ['boss'] }, email: 'a@example.com' },
    });
    const shown = ({ created_at: _, updated_at: __, ...mapping }: Record<string, unknown>) => mapping;
    expect(got).toEqual({
      role: 'builder',
      role_source: 'mapping',
      matched: [
        { ...shown(high), decides: true },
        { ...shown(low), decides: false },
      ],
      ignored: [
        {
          ...shown(dotted),
          reason: 'claim_absent',
          found: [],
          hint: expect.stringContaining('/realm_access/roles'),
        },
        { ...shown(mail), reason: 'email_not_verified', found: ['a@example.com'], hint: null },
      ],
      incomplete: [],
      would_change_users: [],
      would_change_count: 0,
      leaves_no_admin: false,
    });
    for (const { id } of [high, low, dotted, mail]) await ok(at().api.delete(`/role-mappings/${id}`), 204);
  });

  test('takes a whole proposed set, of which ids may be absent, and writes nothing', async () => {
    const boss = await map(at(), 'team', 'boss', 'admin');
    const { id: a } = await admitted(arrive(at().db, 'a', { team: 'boss', name: 'A' }));
    const tables = sql`select (select json_agg(u order by u.id) from users u) as u, (select json_agg(m) from role_mappings m) as m,
        (select count(*)::int from audits where action like 'user.%' or action like 'role_mapping.%') as a`;
    const before = await query(at(), tables);
    const got = await preview({
      mappings: [{ ...boss, role: 'builder' }, rule('x', 'y', 'admin')],
      user_id: a,
    });
    expect(got).toMatchObject({
      role: 'builder',
      role_source: 'mapping',
      matched: [{ id: boss.id, role: 'builder', decides: true }],
      ignored: [{ id: null, claim: 'x', priority: 0, reason: 'claim_absent' }],
      would_change_users: [{ id: a, name: 'A', email: null, from: 'admin', to: 'builder' }],
      would_change_count: 1,
      leaves_no_admin: true,
    });
    const { id: b } = await newPerson(at(), 'admin');
    expect(await preview({ mappings: [] })).toEqual({
      role: null,
      role_source: null,
      matched: [],
      ignored: [],
      incomplete: [],
      would_change_users: [{ id: a, name: 'A', email: null, from: 'admin', to: null }],
      would_change_count: 1,
      leaves_no_admin: false,
    });
    await at().sql`update users set status = 'suspended' where id = ${b}`;
    expect((await preview({ mappings: [] })).leaves_no_admin).toBe(true);
    await at().sql`delete from users where id = ${b}`;
    expect(await query(at(), tables)).toEqual(before);
  });

  test('in the application it says among how many people', async () => {
    const { data } = await ok(at().api.get('/users?limit=200'));
    await newPerson(at(), 'member');
    const { user_count, ...got } = await ok(
      at().app.post('/role-mappings/preview', { claims: { team: 'none' }, mappings: [] }),
    );
    expect(user_count).toBe(data.length + 1);
    expect(got).toEqual(await preview({ claims: { team: 'none' }, mappings: [] }));
    expectError(await at().app.post('/role-mappings/preview', {}), 400);
  });

  test('agrees with what the change then does', async () => {
    for (let n = 0; n < 8; n++) {
      await map(at(), 'n', `${n}`, n % 2 ? 'member' : 'builder');
      await admitted(arrive(at().db, `n${n}`, { n, odd: n % 2 === 1 }));
    }
    const stored = (await ok(at().api.get('/role-mappings'))).data;
    const added = rule('odd', 'true', 'builder', 3);
    const promised = await preview({ mappings: [...stored, added] });
    expect(promised.would_change_count).toBe(4);
    const before = (await ok(at().api.get('/audits?action=user.role_change&limit=200'))).data.length;
    await ok(at().api.post('/role-mappings', added));
    const entries = (await ok(at().api.get('/audits?action=user.role_change&limit=200'))).data;
    expect(entries.length - before).toBe(4);
    for (const { id, to } of promised.would_change_users)
      expect(await person(at(), id)).toMatchObject({ role: to });
  });

  test('a role set by hand stays, and an invitation has no claims', async () => {
    const { id } = await ok(at().api.post('/users', { email: 'p@example.com', role: 'builder' }));
    const got = await preview({ user_id: id, mappings: [rule('email', 'p@example.com', 'admin')] });
    expect(got).toMatchObject({ role: 'builder', role_source: 'manual' });
    expect(got.ignored).toMatchObject([{ reason: 'claim_absent' }]);
    expect(got.would_change_users.map((user: { id: string }) => user.id)).not.toContain(id);
  });

  test('incomplete claims give no role', async () => {
    const mappings = [rule('groups', 'a', 'admin'), rule('team', 'b', 'builder')];
    const got = await preview({ mappings, claims: { team: 'b', hasgroups: true } });
    expect(got).toMatchObject({ role: null, role_source: 'default', incomplete: ['groups'] });
    expect(got.matched).toMatchObject([{ claim: 'team', decides: false }]);
    expect(got.ignored).toMatchObject([{ claim: 'groups', reason: 'claims_incomplete' }]);
  });

  test('shows at most 20 values, and 100 people with the exact count', async () => {
    const claims = { many: Array.from({ length: 30 }, (_, n) => `v${n}`), long: 'x'.repeat(10_000) };
    const { ignored } = await preview({
      claims,
      mappings: [rule('many', 'x', 'member'), rule('long', 'x', 'member')],
    });
    expect(ignored.map(({ found }: { found: string[] }) => found.length)).toEqual([20, 1]);
    expect(ignored[1].found[0].length).toBe(500);
    await at().sql`insert into users (id, issuer, subject, name, role, role_source, claims)
          select gen_random_uuid(), 'i', 'many ' || n, 'x', 'member', 'mapping', '{"crowd": 1}' from generate_series(1, 1200) n`;
    const got = await preview({ mappings: [rule('crowd', '1', 'builder')] });
    expect(got.would_change_users.length).toBe(100);
    expect(got.would_change_count).toBeGreaterThanOrEqual(1_200);
    await at().sql`delete from users where issuer = 'i'`;
  });

  test('a fault is 400, 404 or 422', async () => {
    const post = (body: unknown) => at().api.post('/role-mappings/preview', body);
    const { id } = await newPerson(at());
    expectError(await post({}), 400, /claims, user_id, mappings/);
    expectError(await post({ claims: null, other: 1 }), 400);
    expectError(await post({ mappings: [{ claim: 'a', value: 'b' }] }), 400, /role/);
    expectError(await post({ user_id: unknownId }), 404);
    expectError(await post({ user_id: 'x' }), 404);
    for (const [body, path] of [
      [{ claims: {}, user_id: id }, 'user_id'],
      [{ claims: [] }, 'claims'],
      [{ claims: 'x' }, 'claims'],
      [{ user_id: 5 }, 'user_id'],
      [{ mappings: {} }, 'mappings'],
      [{ mappings: [rule('/~', 'b', 'admin')] }, 'mappings[0].claim'],
      [{ mappings: [rule('a', 'b', 'admin'), rule('a', 'b', 'member')] }, 'mappings[1].value'],
      [{ mappings: [rule('a', 'b', 'admin', 1_001)] }, 'mappings[0].priority'],
      [{ mappings: Array.from({ length: 501 }, (_, n) => rule('a', `${n}`, 'admin')) }, 'mappings'],
      [{ mappings: [5] }, 'mappings[0]'],
    ] as const) {
      const response = await post(body);
      expectError(response, 422);
      expect(faults(response)).toEqual([path]);
    }
    const own =
      '{"claims": {"__proto__": "x", "constructor": "y"}, "mappings": [{"claim": "__proto__", "value": "x", "role": "admin"}, {"claim": "toString", "value": "x", "role": "admin"}]}';
    const response = await at().api.raw('POST', '/role-mappings/preview', own, {
      headers: { 'content-type': 'application/json' },
    });
    expect(response.body).toMatchObject({
      role: 'admin',
      ignored: [{ claim: 'toString', reason: 'claim_absent' }],
    });
  });
});
