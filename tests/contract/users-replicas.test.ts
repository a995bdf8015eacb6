import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { arrive } from '../harness/people.ts';
import { until } from '../harness/wait.ts';
import { expectError, type Fixture, ok, query, setSettings, useReplicas } from './fixture.ts';
import { newPerson, type TestPerson } from './people-fixture.ts';

describe('people on two replicas', () => {
  let a: Fixture;
  let b: Fixture;
  useReplicas((...replicas) => {
    [a, b] = replicas;
  });

  const activeAdmins = async (): Promise<number> =>
    (await query(a, sql`select count(*)::int as n from users where role = 'admin' and status = 'active'`))[0]
      .n;
  const noAdmins = () => query(a, sql`delete from users where role = 'admin'`);

  const attacks: [
    string,
    (as: Fixture, by: TestPerson, of: TestPerson) => ReturnType<Fixture['api']['get']>,
  ][] = [
    ['demote', (at, by, { id }) => at.as(by.value).patch(`/users/${id}`, { role: 'member' })],
    ['suspend', (at, by, { id }) => at.as(by.value).patch(`/users/${id}`, { status: 'suspended' })],
    ['delete', (at, by, { id }) => at.as(by.value).delete(`/users/${id}`)],
  ];

  test.each(attacks)(
    'two administrators who %s each other at the same instant: one is left',
    async (_verb, attack) => {
      for (let round = 0; round < 5; round++) {
        await noAdmins();
        const [one, two] = [await newPerson(a, 'admin'), await newPerson(a, 'admin')];
        // Both keys are looked up before, so that both requests are admitted.
        await Promise.all([ok(a.as(one.value).get('/users')), ok(b.as(two.value).get('/users'))]);
        const responses = await Promise.all([attack(a, one, two), attack(b, two, one)]);
        const statuses = responses.map(({ status }) => status).sort();
        expect([204, 200]).toContain(statuses[0]);
        // The later request is refused by the rule, or its person is no administrator any more.
        expect([401, 403, 412]).toContain(statuses[1]);
        expect(await activeAdmins()).toBe(1);
      }
    },
  );

  test('of both administrators, each demoted by a key on another replica, one is left', async () => {
    for (let round = 0; round < 5; round++) {
      await noAdmins();
      const people = [await newPerson(a, 'admin'), await newPerson(a, 'admin')];
      const responses = await Promise.all(
        people.map(({ id }, n) => [a, b][n]!.api.patch(`/users/${id}`, { role: 'builder' })),
      );
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 412]);
      expectError(responses.find(({ status }) => status === 412)!, 412, /administrator/);
      expect(await activeAdmins()).toBe(1);
    }
  });

  test('of 20 invitations of one address, one is made', async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        [a, b][n % 2]!.api.post('/users', { email: 'race@example.com', role: 'member' }),
      ),
    );
    expect(responses.filter(({ status }) => status === 200).length).toBe(1);
    expect(responses.filter(({ status }) => status === 422).length).toBe(19);
  });

  test('sign-ins while mappings change leave everyone with the role of the last set', async () => {
    const { id } = await ok(a.api.post('/role-mappings', { claim: 'g', value: 'x', role: 'member' }));
    const signIns = Promise.all(
      Array.from({ length: 40 }, (_, n) => arrive([a, b][n % 2]!.db, `racer ${n}`, { g: 'x' })),
    );
    for (const role of ['builder', 'member', 'builder'])
      await ok(b.api.patch(`/role-mappings/${id}`, { role }));
    await signIns;
    expect(
      await query(
        a,
        sql`select role, count(*)::int as n from users where subject like 'racer %' group by role`,
      ),
    ).toEqual([{ role: 'builder', n: 40 }]);
    await ok(a.api.delete(`/role-mappings/${id}`), 204);
  });

  test('a suspension, a role and DEFAULT_ROLE reach the other replica within a second', async () => {
    const { id, value } = await newPerson(a, 'member');
    const status = async () => (await b.as(value).post('/agents', { name: 'x', mode: 'worker' })).status;
    expect(await status()).toBe(403);
    await ok(a.api.patch(`/users/${id}`, { role: 'builder' }));
    await until(async () => (await status()) === 200, 1_000);
    await ok(a.api.patch(`/users/${id}`, { status: 'suspended' }));
    await until(async () => (await status()) === 401, 1_000);
    await ok(a.api.patch(`/users/${id}`, { status: 'active' }));
    await until(async () => (await status()) === 200, 1_000);
    await query(a, sql`update users set role_source = 'default', claims = '{}' where id = ${id}`);
    await setSettings(a, { DEFAULT_ROLE: 'member' });
    await until(async () => (await status()) === 403, 1_000);
    await setSettings(a, { DEFAULT_ROLE: 'none' });
    await until(async () => (await status()) === 401, 1_000);
  });
});
