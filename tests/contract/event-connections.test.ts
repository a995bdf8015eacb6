import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tryConnection } from '../../src/event-connections/try-connection.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { describeWithNats, type Nats, startNats } from '../harness/nats.ts';
import { adminKey } from '../harness/process.ts';
import { selfSigned } from '../harness/self-signed.ts';
import {
  expectError,
  type Fixture,
  faults,
  newKey,
  ok,
  onPostgres,
  setSettings,
  time,
  uuid,
} from './fixture.ts';

const path = '/event-connections';
const nats = (more: object = {}) => ({ servers: ['broker.invalid:4222'], ...more });
const kafka = (more: object = {}) => ({ brokers: ['broker.invalid:9092'], ...more });
const sasl = { mechanism: 'scram-sha-256', username: 'reader', password: 'hunter2' };
const credentials =
  '-----BEGIN NATS USER JWT-----\nx.y.z\n------END NATS USER JWT------\n-----BEGIN USER NKEY SEED-----\nSUAB\n------END USER NKEY SEED------\n';
let names = 0;
const create = (at: Fixture, kind: string, settings: object, name = `events ${++names}`) =>
  at.api.post(path, { name, kind, settings });
const plainTls = { mode: 'verify_full', ca: null, client_certificate: null, client_key_set: false };

onPostgres((at) => {
  test('a connection has all but its secrets, and its name is unique whatever the case', async () => {
    const created = await create(at(), 'nats', nats({ username: 'u', password: 'hunter2' }), 'Orders');
    expect(created.status, created.text).toBe(200);
    const { id, ...rest } = created.body;
    expect(rest).toEqual({
      name: 'Orders',
      kind: 'nats',
      settings: {
        servers: ['broker.invalid:4222'],
        tls: plainTls,
        username: 'u',
        password_set: true,
        token_set: false,
        credentials_set: false,
      },
      created_by: expect.any(String),
      created_at: expect.stringMatching(time),
      updated_at: expect.stringMatching(time),
    });
    expect(id).toMatch(uuid);
    expect((await at().api.get(`${path}/${id}`)).body).toEqual(created.body);
    const other = await ok(create(at(), 'kafka', kafka({ sasl })));
    expect(other.settings).toEqual({
      brokers: ['broker.invalid:9092'],
      tls: plainTls,
      sasl: { mechanism: 'scram-sha-256', username: 'reader', password_set: true },
    });

    expect(faults(await create(at(), 'nats', nats(), 'ORDERS'))).toEqual(['name']);
    expect(faults(await at().api.patch(`${path}/${other.id}`, { name: 'orders' }))).toEqual(['name']);
    expect((await ok(at().api.patch(`${path}/${id}`, { name: 'orders', kind: 'nats' }))).name).toBe('orders');
    expect(faults(await at().api.patch(`${path}/${id}`, { kind: 'kafka' }))).toEqual(['kind']);
    const listed = (await ok(at().api.get(`${path}?kind=nats`))).data.map((one: { id: string }) => one.id);
    expect(listed).toContain(id);
    expect(listed).not.toContain(other.id);

    const stored = await at().sql`select settings from event_connections`;
    expect(stored.every(({ settings }) => settings.startsWith('v1.'))).toBe(true);
    const entries = JSON.stringify(
      await at().sql`select details::text from audits where target_id in (${id}, ${other.id})`,
    );
    expect(entries).toMatch(/sha256:/);
    expect(entries).not.toMatch(/hunter2/);
    expect((await at().as(adminKey, '/api/v1').get(`${path}/${id}`)).status).toBe(404);
    await ok(at().api.delete(`${path}/${id}`), 204);
    await ok(at().api.delete(`${path}/${other.id}`), 204);
  });

  test('PATCH merges the settings, and another server or another tls needs the secrets again', async () => {
    const { id } = await ok(create(at(), 'nats', nats({ username: 'u', password: 'one' })));
    const patch = (settings: object, of = id) => at().api.patch(`${path}/${of}`, { settings });
    for (const [field, given] of [
      ['servers', { servers: ['elsewhere.invalid:4222'] }],
      ['servers', { servers: ['broker.invalid:4222', 'broker.invalid:4223'] }],
      ['tls', { tls: { mode: 'require' } }],
    ] as const) {
      const refused = await patch(given);
      expectError(refused, 422, new RegExp(`because ${field} changes`));
      expect(faults(refused)).toEqual(['settings.password']);
    }
    const shown = await ok(at().api.get(`${path}/${id}`));
    expect((await ok(patch(shown.settings))).settings).toEqual(shown.settings);
    const servers = ['a.invalid:4222', 'b.invalid:4222'];
    expect((await ok(patch({ servers, password: 'two' }))).settings.servers).toEqual(servers);
    expect((await ok(patch({ servers: ['b.invalid:4222'] }))).settings.password_set).toBe(true);
    expect(faults(await patch({ token: 't' }))).toEqual(['settings.token']);
    expect((await ok(patch({ token: 't', username: null, password: null }))).settings).toMatchObject({
      username: null,
      password_set: false,
      token_set: true,
    });

    const topic = await ok(create(at(), 'kafka', kafka({ sasl })));
    expect(faults(await patch({ brokers: ['x.invalid:9092'] }, topic.id))).toEqual([
      'settings.sasl.password',
    ]);
    expect((await ok(patch({ sasl: { username: 'other' } }, topic.id))).settings.sasl).toEqual({
      mechanism: 'scram-sha-256',
      username: 'other',
      password_set: true,
    });
    expect((await ok(patch({ sasl: null, brokers: ['x.invalid:9092'] }, topic.id))).settings.sasl).toBeNull();
  });

  test.each([
    ['nats', { servers: ['no port'] }, 'settings.servers[0]'],
    ['nats', { servers: ['nats://broker:4222'] }, 'settings.servers[0]'],
    ['nats', { servers: ['broker:99999'] }, 'settings.servers[0]'],
    ['nats', { servers: [] }, 'settings.servers'],
    ['nats', nats({ username: 'u' }), 'settings.password'],
    ['nats', nats({ token: 't', credentials }), 'settings.credentials'],
    ['nats', nats({ credentials: 'no credentials' }), 'settings.credentials'],
    ['kafka', kafka({ sasl: { ...sasl, mechanism: 'oauthbearer' } }), 'settings.sasl.mechanism'],
    ['kafka', kafka({ tls: { client_certificate: selfSigned.cert } }), 'settings.tls.client_key'],
  ])('422 for %s %j', async (kind, settings, field) => {
    expect(faults(await create(at(), kind, settings))).toEqual([field]);
    expect(faults(await at().api.post(`${path}/test`, { kind, settings }))).toEqual([field]);
  });

  test('there are at most MAX_EVENT_CONNECTIONS, and a member may not see them', async () => {
    const count = (await ok(at().api.get(`${path}?limit=200`))).data.length;
    await setSettings(at(), { MAX_EVENT_CONNECTIONS: count });
    expectError(await create(at(), 'nats', nats()), 400, /maximum/, { setting: 'MAX_EVENT_CONNECTIONS' });
    const member = at().as((await newKey(at(), 'member')).value);
    expect((await member.get(path)).status).toBe(403);
  });

  test('a test of a stored connection is audited, and an address that is not permitted is refused', async () => {
    const tls = { mode: 'disable' };
    const [{ id }] = (await ok(at().api.get(`${path}?kind=nats`))).data;
    const denied = { servers: ['169.254.169.254:4222'], tls };
    await ok(at().api.patch(`${path}/${id}`, { settings: { ...denied, token: 'again' } }));
    expect(await ok(at().api.post(`${path}/${id}/test`))).toEqual({
      ok: false,
      steps: [{ step: 'resolve', ok: false, detail: expect.stringMatching(/EGRESS_DENY/) }],
      reason: 'denied',
      latency_ms: expect.any(Number),
    });
    const brokers = ['169.254.169.254:9092'];
    expect(
      await ok(at().api.post(`${path}/test`, { kind: 'kafka', settings: { brokers, tls } })),
    ).toMatchObject({
      ok: false,
      reason: 'denied',
    });
    const actions = await at().sql`select action from audits where target_id = ${id} order by id`;
    expect(actions.at(-1)!.action).toBe('event_connection.test');
  });
});

const egress = createEgress({ deny: [] });
const settingsOf = (port: number, more: object = {}) =>
  ({ kind: 'nats', servers: [`127.0.0.1:${port}`], tls: { mode: 'disable' }, ...more }) as never;
const stepsOf = ({ steps }: Awaited<ReturnType<typeof tryConnection>>) =>
  steps.map(({ step, ok: passed }) => `${step} ${passed}`);

/** A server that writes these bytes to each connection, and again to what it receives. */
const hostileServer = async (greeting: string, reply: Buffer) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.write(greeting);
    socket.on('data', () => socket.write(reply));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { sockets, port: (server.address() as { port: number }).port, close: () => server.close() };
};

test.each([
  ['nats', 'NONSENSE\r\n', 'PONG\r\n'],
  ['nats', 'INFO {broken\r\n', 'PONG\r\n'],
  ['nats', 'INFO {"version":"1.0.0","jetstream":true}\r\n', 'PONG\r\n'],
  ['kafka', '', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['kafka', '', '\0\0\0\x08\0\0\0\x63\0\0\0\0'],
  ['kafka', '', '\0\0\0\x08\0\0\0\x01\x7f\x7f\x7f\x7f'],
])(
  'a server for %s that sends %j and %j fails the test, and its connections are closed',
  async (kind, greeting, reply) => {
    const { sockets, port, close } = await hostileServer(greeting, Buffer.from(reply, 'latin1'));
    const of = (names: object) => ({ kind, tls: { mode: 'disable' }, ...names }) as never;
    const servers = [`127.0.0.1:${port}`];
    const result = await tryConnection(of(kind === 'nats' ? { servers } : { brokers: servers }), egress);
    expect(result.ok).toBe(false);
    await expect.poll(() => sockets.size).toBe(0);
    close();
  },
);

describeWithNats('tests of NATS connections', () => {
  let server: Nats;
  let secure: Nats;
  beforeAll(async () => {
    server = await startNats({ authorization: 'user: u, password: "hunter2"' });
    secure = await startNats({ tls: selfSigned });
  });
  afterAll(async () => {
    await server?.stop();
    await secure?.stop();
  });

  test('its steps pass with the right password, and it says which failed', async () => {
    const right = await tryConnection(
      settingsOf(server.port, { username: 'u', password: 'hunter2' }),
      egress,
    );
    expect(right).toMatchObject({ ok: true });
    expect(stepsOf(right)).toEqual(
      ['resolve', 'connect', 'authenticate', 'version', 'list'].map((one) => `${one} true`),
    );
    const wrong = await tryConnection(settingsOf(server.port, { token: 'canary' }), egress);
    expect(wrong).toMatchObject({ ok: false, reason: 'authentication' });
    expect(stepsOf(wrong)).toEqual(['resolve true', 'connect true', 'authenticate false']);
    expect(JSON.stringify(wrong)).not.toMatch(/canary/);
    const unused = await tryConnection(settingsOf(1), egress);
    expect(stepsOf(unused)).toEqual(['resolve true', 'connect false']);
    const second = {
      servers: ['127.0.0.1:1', `localhost:${server.port}`],
      username: 'u',
      password: 'hunter2',
    };
    expect(await tryConnection(settingsOf(1, second), egress)).toMatchObject({ ok: true });
  });

  test('TLS is checked for the host of the settings', async () => {
    const attempt = async (tls: object, host = '127.0.0.1') => {
      const servers = [`${host}:${secure.port}`];
      return tryConnection(settingsOf(secure.port, { servers, tls }), egress);
    };
    const trusting = { mode: 'verify_full', ca: selfSigned.cert };
    for (const host of ['127.0.0.1', 'localhost']) {
      expect(stepsOf(await attempt(trusting, host))).toEqual(
        ['resolve', 'connect', 'tls', 'authenticate', 'version', 'list'].map((one) => `${one} true`),
      );
    }
    expect(await attempt({ mode: 'require' })).toMatchObject({ ok: true });
    expect(await attempt({ mode: 'verify_full' })).toMatchObject({ ok: false, reason: 'tls' });
    expect(await attempt({ mode: 'disable' })).toMatchObject({ ok: false, reason: 'tls' });
    const none = settingsOf(server.port, { tls: trusting, username: 'u', password: 'hunter2' });
    expect(await tryConnection(none, egress)).toMatchObject({ ok: false, reason: 'tls' });
  });
});
