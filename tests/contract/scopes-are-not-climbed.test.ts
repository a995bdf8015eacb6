import { expect, test } from 'vitest';
import { describeOnPostgres, expectError, newKey, ok, setSettings } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

describeOnPostgres('a key with scopes', (at) => {
  const keyWith = async (...scopes: string[]) => (await newKey(at(), 'admin', { scopes })).value;
  const mapping = { claim: 'email', value: 'me@example.com', role: 'admin', priority: 99 };
  const documents: [string, object, [string, string][]][] = [
    ['settings', { settings: { RATE_LIMIT_BURST: 7 } }, [['settings', 'settings']]],
    [
      'settings of access',
      { settings: { SESSION_MAX_SECONDS: 60 } },
      [
        ['settings', 'settings'],
        ['settings', 'access'],
      ],
    ],
    ['branding', { branding: { workspace_name: 'Other' } }, [['branding', 'settings']]],
    ['datasets', { datasets: [{ name: 'Climber' }] }, [['dataset', 'evaluations']]],
    ['agents', { agents: [{ name: 'Climber', mode: 'worker' }] }, [['agent', 'agents']]],
  ];

  test.each(documents)(
    'applies %s only with the scopes for it, and the plan says which it lacks',
    async (_what, part, missing) => {
      const body = { document: { version: 1, ...part } };
      const without = at().as(await keyWith('workspace'), '/app/api');
      const missing_scopes = missing.map(([kind, scope]) => ({ kind, scope }));
      expect((await ok(without.post('/workspace/plan', body))).missing_scopes).toEqual(missing_scopes);
      const refused = await without.post('/workspace/apply', body);
      expectError(refused, 403, new RegExp(missing.map(([, scope]) => scope).join('.*')), { missing_scopes });
      const all = at().as(await keyWith('workspace', ...missing.map(([, scope]) => scope)), '/app/api');
      expect((await ok(all.post('/workspace/plan', body))).missing_scopes).toEqual([]);
      await ok(all.post('/workspace/apply', body));
      // What is there already needs nothing.
      await ok(without.post('/workspace/apply', body));
      await setSettings(at(), { RATE_LIMIT_BURST: 2_000, SESSION_MAX_SECONDS: 86_400 });
    },
  );

  test.each([
    ['a role mapping', { role_mappings: [mapping] }, 'role_mapping'],
    ['DEFAULT_ROLE', { settings: { DEFAULT_ROLE: 'builder' } }, 'settings'],
  ])('gives no role by a document: %s', async (_what, part, kind) => {
    const by = at().as(await keyWith('workspace', 'access', 'settings'), '/app/api');
    const body = { document: { version: 1, ...part } };
    const missing_scopes = [{ kind, scope: null }];
    expect((await ok(by.post('/workspace/plan', body))).missing_scopes).toEqual(missing_scopes);
    expectError(await by.post('/workspace/apply', body), 403, /no role to people/, { missing_scopes });
  });

  test('gives no role by the scopes `access` and `settings`', async () => {
    const { id } = await newPerson(at(), 'member');
    const { id: mappingId } = await ok(at().api.post('/role-mappings', mapping));
    const by = at().as(await keyWith('access', 'settings'));
    for (const refused of [
      await by.post('/users', { email: 'new@example.com', role: 'admin' }),
      await by.patch(`/users/${id}`, { role: 'admin' }),
      await by.post('/role-mappings', { ...mapping, value: 'you@example.com' }),
      await by.patch(`/role-mappings/${mappingId}`, { priority: 100 }),
      await by.delete(`/role-mappings/${mappingId}`),
      await by.patch('/advanced-settings', { DEFAULT_ROLE: 'builder' }),
    ]) {
      expectError(refused, 403, /no role to people/);
    }
    await ok(by.patch(`/users/${id}`, { status: 'suspended' }));
    expectError(await by.patch(`/users/${id}`, { status: 'active' }), 403, /no role to people/);
    await ok(at().api.delete(`/role-mappings/${mappingId}`), 204);
  });

  test.each([
    ['SESSION_MAX_SECONDS', 3_600, 'access'],
    ['MAX_API_KEY_DAYS', 400, 'access'],
    ['AUDIT_RETENTION_DAYS', 365, 'audit'],
  ])('changes the setting %s only with its scope', async (setting, value, scope) => {
    const body = { [setting]: value };
    const refused = await at()
      .as(await keyWith('settings'))
      .patch('/advanced-settings', body);
    expectError(refused, 403, new RegExp(`${setting} requires the scope ${scope}`), { setting });
    await ok(
      at()
        .as(await keyWith('settings', scope))
        .patch('/advanced-settings', body),
    );
    await setSettings(at(), { SESSION_MAX_SECONDS: 86_400, MAX_API_KEY_DAYS: 0, AUDIT_RETENTION_DAYS: 0 });
  });
});
