import { expect, test } from 'vitest';
import { admitted, arrive, newSession, refresh, refusal } from '../harness/people.ts';
import { describeOnPostgres, ok, setSettings } from './fixture.ts';

const verified = (email: string, more: object = {}) => ({ email, email_verified: true, ...more });
const overage = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://x' } } };

describeOnPostgres('the identity of a person', (at) => {
  const invite = async (email: string, role = 'builder'): Promise<string> =>
    (await ok(at().api.post('/users', { email, role }))).id;
  const map = async (value: string, role = 'member') =>
    ok(at().api.post('/role-mappings', { claim: 'groups', value, role }));
  const get = (id: string) => ok(at().api.get(`/users/${id}`));
  const entries = async (id: string) => (await ok(at().api.get(`/audits?target_id=${id}`))).data;
  const count = async () => (await at().sql`select count(*)::int as n from users`)[0].n;

  test('the first sign-in with a verified e-mail binds an invitation for ever, with its role', async () => {
    const id = await invite('bind@example.com');
    const user = await admitted(
      arrive(at().db, 'bind', verified('Bind@Example.com', { name: 'Bind King', iat: 7 })),
    );
    expect(user.id).toBe(id);
    expect(await get(id)).toMatchObject({
      email: 'bind@example.com',
      email_verified: true,
      name: 'Bind King',
      role: 'builder',
      role_source: 'manual',
      status: 'active',
      identity: { issuer: 'https://id.example', subject: 'bind' },
      last_sign_in_at: expect.any(String),
      last_confirmed_at: expect.any(String),
      claims: { sub: 'bind', email: 'Bind@Example.com', email_verified: true, name: 'Bind King' },
    });
    expect((await entries(id)).map(({ action }: { action: string }) => action)).toEqual([
      'user.update',
      'user.bind',
      'user.invite',
    ]);
    // A later person with the e-mail is someone else.
    expect(await refusal(arrive(at().db, 'thief', verified('bind@example.com')))).toBe('no_role');
    expect(await get(id)).toMatchObject({ identity: { subject: 'bind' } });
  });

  test.each([
    ['unverified', { email: 'shy@example.com', email_verified: false }],
    ['without the claim', { email: 'shy@example.com' }],
    ['verified by a number', { email: 'shy@example.com', email_verified: 1 }],
    ['with another local part', verified('shy+1@example.com')],
    ['with a look-alike', verified('s\u04bby@example.com')],
    ['with two signs', verified('x@shy@example.com')],
    ['as a list', verified(['shy@example.com'] as unknown as string)],
  ])('an e-mail %s binds nothing', async (_what, claims) => {
    if ((await ok(at().api.get('/users?email=shy@example.com'))).data.length === 0)
      await invite('shy@example.com');
    const before = await count();
    expect(await refusal(arrive(at().db, 'shy', claims))).toBe('no_role');
    expect(await count()).toBe(before);
    const [invited] = (await ok(at().api.get('/users?email=shy@example.com'))).data;
    expect(invited).toMatchObject({ status: 'invited', identity: null });
  });

  test('an address that a suspended person has binds no invitation', async () => {
    await map('banned');
    const id = await invite('banned@example.com', 'admin');
    const banned = await admitted(
      arrive(at().db, 'banned', { email: 'banned@example.com', groups: 'banned' }),
    );
    await ok(at().api.patch(`/users/${banned.id}`, { status: 'suspended' }));
    expect(await refusal(arrive(at().db, 'banned 2', verified('banned@example.com')))).toBe('no_role');
    expect(await get(id)).toMatchObject({ status: 'invited' });
    await ok(at().api.delete(`/users/${banned.id}`), 204);
    expect((await admitted(arrive(at().db, 'banned 2', verified('banned@example.com')))).id).toBe(id);
  });

  test('another claim, or *, may say that the e-mail is verified', async () => {
    const one = await invite('own-claim@example.com');
    const claims = { email: 'own-claim@example.com', email_verified: true };
    const options = { emailVerifiedClaim: 'owner_verified' };
    expect(await refusal(arrive(at().db, 'own-claim', claims, options))).toBe('no_role');
    const user = await admitted(arrive(at().db, 'own-claim', { ...claims, owner_verified: 'true' }, options));
    expect(user.id).toBe(one);
    const two = await invite('vouched@example.com');
    const vouched = { email: 'vouched@example.com', email_verified: false };
    expect((await admitted(arrive(at().db, 'vouched', vouched, { emailVerifiedClaim: '*' }))).id).toBe(two);
  });

  test('issuer and subject are compared byte by byte', async () => {
    await map('bytes');
    const ids = new Set<string>();
    const identities: [string, string][] = [
      ['https://id.example', 'bytes'],
      ['https://id.example', 'Bytes'],
      ['https://id.example', 'bytes '],
      ['https://id.example/', 'bytes'],
      ['https://id.example', 'byt\u00e9s'],
      ['https://id.example', 'byte\u0301s'],
    ];
    for (const [issuer, subject] of identities) {
      ids.add((await admitted(arrive(at().db, subject, { groups: 'bytes' }, { issuer }))).id);
    }
    expect(ids.size).toBe(identities.length);
    for (const [issuer, subject] of identities) {
      ids.add((await admitted(arrive(at().db, subject, { groups: 'bytes' }, { issuer }))).id);
    }
    expect(ids.size).toBe(identities.length);
  });

  test('without a role no one is stored; with one a new person, also if others have the e-mail', async () => {
    const before = await count();
    const refused = await arrive(at().db, 'new', verified('new@example.com'));
    expect(refused).toMatchObject({
      user: null,
      refusal: { reason: 'no_role', message: expect.stringMatching(/administrator/) },
      details: { issuer: 'https://id.example', subject: 'new', email: 'new@example.com' },
    });
    expect(await count()).toBe(before);
    await map('new', 'admin');
    const first = await arrive(at().db, 'new', verified('new@example.com', { groups: ['new'] }));
    expect(first.user).toMatchObject({ role: 'admin', role_source: 'mapping', status: 'active' });
    expect(first.details).not.toHaveProperty('email_also_of');
    const second = await arrive(at().db, 'new 2', { email: 'NEW@example.com', groups: ['new'] });
    expect(second.user!.id).not.toBe(first.user!.id);
    expect(second.details).toMatchObject({ email_also_of: [first.user!.id], user_id: second.user!.id });
    expect((await entries(second.user!.id))[0]).toMatchObject({
      action: 'user.bind',
      details: { email_also_of: [first.user!.id], role: 'admin', role_mapping: { value: 'new' } },
    });
  });

  test('a known person gets new e-mail, name, claims and role, each change with an entry', async () => {
    await map('known', 'builder');
    await map('known too', 'member');
    const { id } = await admitted(
      arrive(at().db, 'known', verified('k1@example.com', { groups: ['known'] })),
    );
    const entriesBefore = (await entries(id)).length;
    await admitted(arrive(at().db, 'known', verified('k1@example.com', { groups: ['known'], other: 1 })));
    expect((await entries(id)).length).toBe(entriesBefore);
    expect((await get(id)).claims).toMatchObject({ other: 1 });
    await admitted(arrive(at().db, 'known', { email: 'K2@example.com', name: 'K', groups: ['known too'] }));
    expect(await get(id)).toMatchObject({
      email: 'k2@example.com',
      email_verified: false,
      name: 'K',
      role: 'member',
    });
    const [role, update] = await entries(id);
    expect(role).toMatchObject({
      action: 'user.role_change',
      details: {
        before: { role: 'builder' },
        after: { role: 'member' },
        reason: 'sign_in',
        role_mapping: { value: 'known too' },
      },
    });
    expect(update).toMatchObject({
      action: 'user.update',
      details: { before: { email: 'k1@example.com' }, after: { email: 'k2@example.com' } },
    });
  });

  test('who is no longer mapped loses role and sessions, though it is the last administrator', async () => {
    await map('bosses', 'admin');
    const { id } = await admitted(arrive(at().db, 'last', { groups: 'bosses' }));
    await at().sql`update users set role = 'builder' where role = 'admin' and id <> ${id}`;
    await newSession(at().db, id);
    const gone = await arrive(at().db, 'last', { groups: [] });
    expect(gone).toMatchObject({
      user: null,
      refusal: { reason: 'no_role' },
      details: { user_id: id, role: null },
    });
    expect(await get(id)).toMatchObject({
      role: null,
      role_source: 'default',
      status: 'active',
      claims: { groups: [] },
    });
    expect(await at().sql`select 1 from sessions where user_id = ${id}`).toEqual([]);
    const back = await admitted(arrive(at().db, 'last', { groups: 'bosses' }));
    expect(back).toMatchObject({ id, role: 'admin', role_source: 'mapping' });
  });

  test('DEFAULT_ROLE admits a person whom no mapping matches', async () => {
    await setSettings(at(), { DEFAULT_ROLE: 'member' });
    const user = await admitted(arrive(at().db, 'anyone'));
    expect(user).toMatchObject({ role: 'member', role_source: 'default', name: 'anyone', email: null });
    await setSettings(at(), { DEFAULT_ROLE: 'none' });
    expect(await refusal(arrive(at().db, 'anyone'))).toBe('no_role');
  });

  test('incomplete claims create, raise and lower nothing', async () => {
    await map('some', 'builder');
    expect(await refusal(arrive(at().db, 'over', { ...overage }))).toBe('claims_incomplete');
    expect(await refusal(arrive(at().db, 'over', { hasgroups: true, groups: ['some'] }))).toBe(
      'claims_incomplete',
    );
    const { id } = await admitted(arrive(at().db, 'over', { groups: ['some'], email: 'o@example.com' }));
    const before = await get(id);
    const refused = await arrive(at().db, 'over', { ...overage, email: 'p@example.com' });
    expect(refused).toMatchObject({ refusal: { message: expect.stringMatching(/groups/) } });
    expect(await refresh(at().db, id, 'over', overage)).toMatchObject({
      refusal: { reason: 'claims_incomplete' },
    });
    expect(await get(id)).toEqual(before);
    // What no mapping reads may be incomplete.
    await admitted(arrive(at().db, 'over', { groups: ['some'], _claim_names: { wids: 'src1' } }));
  });

  test('a manual role comes with incomplete claims too, and the complete ones are kept', async () => {
    await map('hand');
    const { id } = await admitted(arrive(at().db, 'hand', { groups: ['hand'], name: 'Before' }));
    await ok(at().api.patch(`/users/${id}`, { role: 'builder' }));
    await admitted(arrive(at().db, 'hand', { ...overage, name: 'After' }));
    expect(await get(id)).toMatchObject({
      name: 'After',
      role: 'builder',
      claims: { groups: ['hand'], name: 'Before' },
    });
    const invited = await invite('hand@example.com');
    const bound = await admitted(arrive(at().db, 'hand 2', verified('hand@example.com', overage)));
    expect(bound).toMatchObject({ id: invited, claims: null, role: 'builder' });
  });

  test('large integers in claims keep their digits', async () => {
    await ok(
      at().api.post('/role-mappings', { claim: 'number', value: '12345678901234567891', role: 'member' }),
    );
    const { id } = await admitted(arrive(at().db, 'digits', '{"number": 12345678901234567891}'));
    const { text } = await at().api.get(`/users/${id}`);
    expect(text).toContain('"number":12345678901234567891');
  });

  test('a refresh confirms, and ends what the provider or an administrator ended', async () => {
    await map('fresh');
    const { id } = await admitted(arrive(at().db, 'fresh', { groups: 'fresh' }));
    await at()
      .sql`update users set last_sign_in_at = '2026-01-01Z', last_confirmed_at = '2026-01-01Z' where id = ${id}`;
    expect(await refresh(at().db, id, 'fresh', { groups: 'fresh' })).toMatchObject({ user: { id } });
    const { last_sign_in_at, last_confirmed_at } = await get(id);
    expect(last_sign_in_at).toBe('2026-01-01T00:00:00.000Z');
    expect(last_confirmed_at > last_sign_in_at).toBe(true);
    expect(await refresh(at().db, id, 'Fresh', { groups: 'fresh' })).toMatchObject({ user: null });
    await ok(at().api.patch(`/users/${id}`, { status: 'suspended' }));
    expect(await refresh(at().db, id, 'fresh', { groups: 'fresh' })).toMatchObject({
      refusal: { reason: 'suspended' },
    });
    await ok(at().api.patch(`/users/${id}`, { status: 'active' }));
    expect(await refresh(at().db, id, 'fresh')).toMatchObject({ refusal: { reason: 'no_role' } });
    expect((await entries(id))[0]).toMatchObject({
      action: 'user.role_change',
      details: { reason: 'refresh' },
    });
    await ok(at().api.delete(`/users/${id}`), 204);
    expect(await refresh(at().db, id, 'fresh')).toMatchObject({ user: null });
  });

  test('50 first sign-ins at once make one person', async () => {
    await map('crowd');
    const id = await invite('crowd@example.com', 'member');
    const users = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        arrive(at().db, n % 2 ? 'crowd' : 'crowd 2', verified('crowd@example.com', { groups: 'crowd' })),
      ),
    );
    const ids = new Set(users.map(({ user }) => user!.id));
    expect(ids.size).toBe(2);
    expect(ids).toContain(id);
  });
});
