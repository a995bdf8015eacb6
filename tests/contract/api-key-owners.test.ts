import { describe, expect, test } from 'vitest';
import { until } from '../harness/wait.ts';
import { expectError, type Fixture, newKey, ok, onPostgres, setSettings, useReplicas } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

const hour = 3_600_000;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const asked = { name: 'x', role: 'admin' };

/** A person, with a key of each kind that they may leave behind. `deeper`: made by the key `service`. */
const newOwner = async (at: Fixture) => {
  const person = await newPerson(at, 'admin');
  const by = at.as(person.value);
  const create = async (body: object, maker = by) => ok(maker.post('/api-keys', { ...asked, ...body }), 201);
  const service = await create({ name: 'service' });
  const deeper = await create({ name: 'deeper' }, at.as(service.value));
  const shared = await create({ name: 'shared', owner: 'workspace' });
  const sharedByService = await create(
    { name: 'shared by service', owner: 'workspace' },
    at.as(service.value),
  );
  const madeByShared = await create({ name: 'made by shared' }, at.as(shared.value));
  const own = [person, service, deeper];
  const made = [shared, sharedByService, madeByShared];
  return { person, service, deeper, own, made };
};

/** The statuses of an operation of administrators, as each of the keys. */
const statuses = (at: Fixture, keys: readonly { value: string }[]) =>
  Promise.all(
    keys.map(async ({ value }) => {
      at.test.clock.advance(1_000);
      return (await at.as(value).get('/users?limit=1')).status;
    }),
  );
const named = (keys: readonly { id: string; name: string }[]) => keys.map(({ id, name }) => ({ id, name }));
const sorted = (keys: { id: string }[]) => keys.map(({ id }) => id).sort();

describe('a key of a person', () => {
  onPostgres((at) => {
    test('belongs to the person who made it, or made the key that made it; one of the workspace to the workspace', async () => {
      const { person, own, made } = await newOwner(at());
      for (const key of own.slice(1)) {
        expect(key).toMatchObject({ owner: { kind: 'person', id: person.id, name: 'Ada' } });
      }
      const workspace = { kind: 'workspace', id: null, name: null };
      for (const key of [...made, await newKey(at(), 'member')]) expect(key.owner).toEqual(workspace);
      const { data } = await ok(at().api.get(`/api-keys?owner=${person.id}`));
      expect(sorted(data)).toEqual(sorted([{ id: person.keyId }, ...own.slice(1)] as { id: string }[]));
      const shared = await ok(at().api.get('/api-keys?owner=workspace&limit=200'));
      expect(sorted(shared.data)).toEqual(expect.arrayContaining(sorted(made)));
    });

    test('is one of the workspace only if an administrator without scopes says so', async () => {
      const { value } = await newPerson(at(), 'builder');
      const scoped = await newKey(at(), 'admin', { scopes: ['access'] });
      for (const by of [value, scoped.value, (await newKey(at(), 'builder')).value]) {
        const body = { name: 'x', role: 'member', scopes: ['access'], owner: 'workspace' };
        expectError(await at().as(by).post('/api-keys', body), 403, /administrator without scopes/);
      }
      const admin = at().as((await newPerson(at(), 'admin')).value);
      const body = { name: 'x', kind: 'personal', owner: 'workspace' };
      expectError(await admin.post('/api-keys', body), 422, /owner/);
      expectError(await admin.post('/api-keys', { ...asked, owner: 'person' }), 422, /owner/);
    });

    test.each([
      ['suspended', { status: 'suspended' }, { status: 'active' }],
      ['demoted', { role: 'member' }, { role: 'admin' }],
    ])(
      'loses what the person loses who is %s, and gets it back; keys of the workspace end',
      async (_how, change, back) => {
        const { person, own, made } = await newOwner(at());
        expect(await statuses(at(), [...own, ...made])).toEqual(Array(6).fill(200));
        const listed = await ok(at().api.get(`/api-keys?made_by=${person.id}`));
        expect(sorted(listed.data)).toEqual(sorted(made));
        const updated = await ok(at().api.patch(`/users/${person.id}`, change));
        expect(updated.ended_keys).toEqual(named(made));
        const less = 'role' in change ? 403 : 401;
        expect(await statuses(at(), [...own, ...made])).toEqual([less, less, less, 401, 401, 401]);
        expect(await ok(at().api.get(`/api-keys/${own[1].id}`))).toMatchObject({
          role: less === 403 ? 'member' : 'admin',
          status: less === 403 ? 'active' : 'paused',
        });
        expect((await ok(at().api.patch(`/users/${person.id}`, back))).ended_keys).toEqual([]);
        expect(await statuses(at(), [...own, ...made])).toEqual([200, 200, 200, 401, 401, 401]);
        const entries = await ok(at().api.get(`/audits?action=api_key.delete&target_id=${made[2].id}`));
        expect(entries.data).toMatchObject([{ details: { name: 'made by shared', made_by: person.id } }]);
      },
    );

    test('ends with the person; keys of the workspace stay if the request says so', async () => {
      for (const query of ['', '?end_made_keys=true', '?end_made_keys=false']) {
        const ends = !query.endsWith('false');
        const { person, own, made } = await newOwner(at());
        const deleted = await ok(at().api.delete(`/users/${person.id}${query}`));
        expect(deleted).toEqual({ ended_keys: ends ? named(made) : [] });
        expect(await statuses(at(), own)).toEqual([401, 401, 401]);
        expect(await statuses(at(), made)).toEqual(Array(3).fill(ends ? 401 : 200));
      }
      await ok(at().api.delete(`/users/${(await newPerson(at())).id}`), 204);
      const kept = await newOwner(at());
      const body = { status: 'suspended', end_made_keys: false };
      expect((await ok(at().api.patch(`/users/${kept.person.id}`, body))).ended_keys).toEqual([]);
      expect(await statuses(at(), kept.made)).toEqual([200, 200, 200]);
      const other = await newOwner(at());
      const same = await ok(at().api.patch(`/users/${other.person.id}`, { role: 'admin' }));
      expect(same.ended_keys).toEqual([]);
      expect(await statuses(at(), other.made)).toEqual([200, 200, 200]);
    });

    test('ends with someone else who rotated it and so knows its value', async () => {
      const leaver = await newPerson(at(), 'admin');
      const stays = await newPerson(at(), 'admin');
      const owned = await ok(at().as(stays.value).post('/api-keys', asked), 201);
      const shared = await newKey(at(), 'admin');
      const rotate = (by: { value: string }, { id }: { id: string }) =>
        ok(at().as(by.value).post(`/api-keys/${id}/rotate`, { overlap_seconds: 0 }), 201);
      const known = [await rotate(leaver, owned), await rotate(leaver, shared)];
      // A later rotation by its own person takes the value away again.
      const again = await rotate(leaver, await ok(at().as(stays.value).post('/api-keys', asked), 201));
      const unknown = await rotate(stays, again);
      const listed = await ok(at().api.get(`/api-keys?made_by=${leaver.id}&status=active`));
      expect(sorted(listed.data)).toEqual(sorted(known));
      const { ended_keys } = await ok(at().api.patch(`/users/${leaver.id}`, { status: 'suspended' }));
      expect(sorted(ended_keys)).toEqual(expect.arrayContaining(sorted(known)));
      expect(await statuses(at(), [...known, unknown])).toEqual([401, 401, 200]);
    });

    test('is seen and deleted by its person, also if another key of theirs made it', async () => {
      const { person, deeper } = await newOwner(at());
      await ok(at().api.patch(`/users/${person.id}`, { role: 'member' }));
      const by = at().as(person.value);
      expect((await ok(by.get('/api-keys'))).data.map(({ id }: { id: string }) => id)).toContain(deeper.id);
      await ok(by.delete(`/api-keys/${deeper.id}`), 204);
    });
  });
});

describe('a key that made others', () => {
  onPostgres((at) => {
    const create = async ({ value }: { value: string }, body: object = {}) => {
      const by = at().as(value);
      return ok(by.post('/api-keys', { ...asked, ...body }), 201);
    };

    test('ends them with it, unless the request says that they stay', async () => {
      for (const query of ['', '?end_made_keys=false']) {
        const ends = query === '';
        const key = await newKey(at(), 'admin');
        const child = await create(key, { name: 'child' });
        const grandchild = await create(child, { name: 'grandchild' });
        const rotated = await ok(at().as(child.value).post('/api-keys/self/rotate', {}), 201);
        const listed = await ok(at().api.get(`/api-keys?made_by=${key.id}`));
        expect(sorted(listed.data)).toEqual(sorted([child, grandchild, rotated]));
        const { ended_keys } = await ok(at().api.delete(`/api-keys/${key.id}${query}`));
        expect(sorted(ended_keys)).toEqual(ends ? sorted([child, grandchild, rotated]) : []);
        const after = ends ? [401, 401, 401] : [200, 200, 200];
        expect(await statuses(at(), [child, grandchild, rotated])).toEqual(after);
      }
    });

    test('names them before to who is no administrator, but only of a key that they may delete', async () => {
      const builder = await newKey(at(), 'builder');
      const key = await create(builder, { role: 'builder' });
      const child = await create(key, { role: 'builder' });
      const grandchild = await create(child, { role: 'member' });
      const listed = async (by: { value: string }, id: string, client = at().as(by.value)) =>
        sorted((await ok(client.get(`/api-keys?made_by=${id}`))).data);
      for (const base of ['/api/v2', '/app/api'] as const) {
        const shown = await listed(builder, key.id, at().as(builder.value, base));
        expect(shown).toEqual(sorted([child, grandchild]));
      }
      expect(await listed(builder, builder.id)).toEqual(sorted([key, child, grandchild]));
      const replacement = await ok(at().as(builder.value).post('/api-keys/self/rotate', {}), 201);
      expect(await listed(replacement, replacement.id)).toEqual(sorted([key, child, grandchild]));
      const other = await newKey(at(), 'builder');
      expect(await listed(other, key.id)).toEqual([]);
      // What key made, child did not, and child is not the builder's to delete.
      expect(await listed(builder, child.id)).toEqual([]);
      const { ended_keys } = await ok(at().as(builder.value).delete(`/api-keys/${key.id}`));
      expect(sorted(ended_keys)).toEqual(sorted([child, grandchild]));
    });

    test('ends the keys that it rotated with it, unless the request says that they stay', async () => {
      for (const [query, status] of [
        ['', 401],
        ['?end_made_keys=false', 200],
      ] as const) {
        const leaked = await newKey(at(), 'admin');
        const other = await newKey(at(), 'admin');
        const rotated = await ok(at().as(leaked.value).post(`/api-keys/${other.id}/rotate`, {}), 201);
        expect(sorted((await ok(at().api.get(`/api-keys?made_by=${leaked.id}`))).data)).toEqual([rotated.id]);
        await ok(at().api.delete(`/api-keys/${leaked.id}${query}`));
        expect(await statuses(at(), [rotated, other])).toEqual([status, 200]);
      }
    });

    test('leaves them to its replacement, and with that they end', async () => {
      const old = await newKey(at(), 'admin');
      const child = await create(old);
      const replacement = await ok(at().api.post(`/api-keys/${old.id}/rotate`, {}), 201);
      const listed = await ok(at().api.get(`/api-keys?made_by=${replacement.id}`));
      expect(sorted(listed.data)).toEqual([child.id]);
      await ok(at().api.delete(`/api-keys/${old.id}`), 204);
      expect(await statuses(at(), [child])).toEqual([200]);
      await ok(at().api.delete(`/api-keys/${replacement.id}`));
      expect(await statuses(at(), [child])).toEqual([401]);
    });

    test('cannot be rotated past the end that the first key had', async () => {
      const expires_at = inMs(hour);
      const first = await newKey(at(), 'admin', { expires_at });
      let key = first;
      for (let n = 0; n < 3; n++) {
        key = await ok(at().as(key.value).post('/api-keys/self/rotate', {}), 201);
        expect(key.expires_at).toBe(expires_at);
      }
      for (const by of [at().api, at().as(key.value)]) {
        const later = await by.post(`/api-keys/${key.id}/rotate`, { expires_at: inMs(2 * hour) });
        expectError(later, 422, /expires_at/);
      }
    });
  });
});

describe('the number of keys', () => {
  onPostgres((at) => {
    test('of a member and of a builder is limited, of an administrator it is not', async () => {
      await setSettings(at(), { MAX_API_KEYS_PER_PERSON: 3, MAX_API_KEYS_PER_BUILDER: 4 });
      for (const [role, most] of [
        ['member', 3],
        ['builder', 4],
      ] as const) {
        const setting = role === 'member' ? 'MAX_API_KEYS_PER_PERSON' : 'MAX_API_KEYS_PER_BUILDER';
        const person = await newPerson(at(), role);
        let by = at().as(person.value);
        const create = () => by.post('/api-keys', { name: 'x', role });
        for (let n = 1; n < most; n++) by = at().as((await ok(create(), 201)).value);
        expectError(await create(), 400, new RegExp(`${most} API keys.*${setting}`), { setting });
        await ok(by.post('/api-keys/self/rotate', { overlap_seconds: 0 }), 201);
        // A service account of the workspace, and what it made.
        const account = await newKey(at(), role);
        by = at().as(account.value);
        for (let n = 0; n < most; n++) by = at().as((await ok(create(), 201)).value);
        expectError(await create(), 400, /service account/, { setting });
      }
      // A key that rotates itself again and again is no way round.
      const person = await newPerson(at(), 'member');
      const account = await newKey(at(), 'member');
      for (const { value } of [await newKey(at(), 'member', {}, at().as(person.value)), account]) {
        let by = at().as(value);
        const rotate = (body: object = {}) => by.post('/api-keys/self/rotate', body);
        for (let n = 0; n < 3; n++) by = at().as((await ok(rotate(), 201)).value);
        expectError(await rotate(), 400, /rotated/, { setting: 'MAX_API_KEYS_PER_PERSON' });
        await ok(rotate({ overlap_seconds: 0 }), 201);
      }
      const admin = at().as((await newPerson(at(), 'admin')).value);
      for (let n = 0; n < 5; n++) await ok(admin.post('/api-keys', asked), 201);
      await setSettings(at(), { MAX_API_KEYS_PER_PERSON: 20, MAX_API_KEYS_PER_BUILDER: 50 });
    });
  });
});

describe('two replicas on one database', () => {
  let a: Fixture;
  let b: Fixture;
  useReplicas((...replicas) => {
    [a, b] = replicas;
  });

  test('a person who is suspended loses every key here at once and there within a second', async () => {
    const { person, own } = await newOwner(a);
    expect(await statuses(b, own)).toEqual([200, 200, 200]);
    await newPerson(a, 'admin');
    await ok(a.api.patch(`/users/${person.id}`, { status: 'suspended' }));
    expect(await statuses(a, own)).toEqual([401, 401, 401]);
    await until(async () => (await statuses(b, own)).every((status) => status === 401), 1_000);
  });
});
