import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { openParts } from '../../../tests/harness/foreign.ts';
import { createEgress } from '../../lib/egress.ts';
import { mysql } from './mysql.ts';
import { postgres } from './postgres.ts';
import { Progress } from './progress.ts';
import type { ServerSettings, TlsSettings } from './settings.ts';

const engines = { postgres, mysql };
type Name = keyof typeof engines;

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((done) => (server ? server.close(done) : done(null)));
  server = undefined;
  vi.restoreAllMocks();
});

/** A server that does `act` with each connection. */
const serve = async (act: (socket: Socket) => void): Promise<number> => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.resume();
    act(socket);
  });
  await new Promise<void>((ready) => server!.listen(0, '127.0.0.1', ready));
  return (server.address() as { port: number }).port;
};

const attempt = async (name: Name, port: number, mode: TlsSettings['mode'], withinMs: number) => {
  const progress = new Progress(withinMs);
  const settings: ServerSettings = {
    host: '127.0.0.1',
    port,
    database: 'd',
    username: 'u',
    password: 'hunter2',
    tls: { mode },
  };
  const error = await engines[name].open(settings, openParts({ progress })).then(
    () => null,
    (reason) => reason,
  );
  expect(error).toMatchObject({ name: 'ConnectionFailure' });
  const steps = progress.failed(error);
  expect(JSON.stringify([steps, error.message, error.stack])).not.toMatch(/hunter2/);
  return { reason: error.reason, step: steps.at(-1)!.step, detail: error.message };
};

const hello = (text: string): Buffer => {
  const body = Buffer.concat([
    Buffer.from([10]),
    Buffer.from(`${text}\0`),
    Buffer.from([1, 0, 0, 0]),
    Buffer.from('12345678\0'),
    // Capabilities: protocol 4.1, secure connection, TLS, plugins.
    Buffer.from([0x00, 0x8a, 45, 2, 0, 0x08, 0x00, 21]),
    Buffer.alloc(10),
    Buffer.from('123456789012\0'),
    Buffer.from('mysql_native_password\0'),
  ]);
  return Buffer.concat([Buffer.from([body.length, 0, 0, 0]), body]);
};

test.each([
  ['postgres', 'disable', 'authenticate'],
  ['postgres', 'require', 'tls'],
  ['mysql', 'disable', 'authenticate'],
  ['mysql', 'require', 'tls'],
] as const)('a %s server that says nothing (%s) is given up at its step', async (name, mode, step) => {
  const port = await serve(() => {});
  expect(await attempt(name, port, mode, 100)).toMatchObject({ reason: 'unreachable', step });
  await expect.poll(() => [...sockets].every(({ destroyed }) => destroyed)).toBe(true);
});

test.each([
  [
    'postgres',
    'begins TLS and then says nothing',
    (socket: Socket): void => {
      socket.once('data', () => socket.write('S'));
    },
  ],
  [
    'mysql',
    'begins TLS and then says nothing',
    (socket: Socket): void => {
      socket.write(hello('8.4.0'));
    },
  ],
] as const)('a %s server that %s is given up', async (name, _what, act) => {
  const port = await serve(act);
  expect(await attempt(name, port, 'require', 150)).toMatchObject({ reason: 'unreachable', step: 'tls' });
});

test.each([
  ['postgres', 'disable'],
  ['postgres', 'require'],
  ['mysql', 'disable'],
  ['mysql', 'require'],
] as const)('a %s server that closes the connection (%s) is found at once', async (name, mode) => {
  const port = await serve((socket) => socket.destroy());
  expect((await attempt(name, port, mode, 5_000)).detail).not.toMatch(/in time/);
});

/** The same bytes in each run. */
const garbage = (seed: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    bytes[i] = state >> 16;
  }
  return bytes;
};

test.each(['postgres', 'mysql'] as const)('a %s server that sends garbage does no harm', async (name) => {
  // The driver of MySQL warns of packets in the wrong order.
  vi.spyOn(console, 'error').mockImplementation(() => {});
  let seed = 0;
  const port = await serve((socket) => {
    seed++;
    // Some of it after a beginning that is right.
    const begin: Uint8Array = name === 'mysql' && seed % 2 === 0 ? hello('5.7.0') : Buffer.alloc(0);
    socket.write(begin);
    socket.on('data', () =>
      socket.write(Buffer.concat([Buffer.from('ERSZT'.charAt(seed % 5)), garbage(seed, 300)])),
    );
    if (name === 'mysql')
      socket.write(Buffer.concat([Buffer.from([seed % 256, 1, 0, seed % 3]), garbage(seed, 600)]));
  });
  for (let i = 0; i < 40; i++) await attempt(name, port, i % 3 === 0 ? 'require' : 'disable', 60);
});

test('text before the encryption begins is refused', async () => {
  const port = await serve((socket) => void socket.once('data', () => socket.write('Sinjected')));
  expect(await attempt('postgres', port, 'require', 5_000)).toMatchObject({ reason: 'tls', step: 'tls' });
});

test('a server that asks for a file of the client or for a password in clear text gets neither', async () => {
  const received: Buffer[] = [];
  const port = await serve((socket) => {
    socket.write(hello('8.4.0'));
    socket.once('data', () => {
      const request = Buffer.from('\xfemysql_clear_password\0', 'latin1');
      socket.write(Buffer.concat([Buffer.from([request.length, 0, 0, 2]), request]));
      socket.on('data', (bytes: Buffer) => received.push(bytes));
    });
  });
  await attempt('mysql', port, 'disable', 300);
  expect(Buffer.concat(received).toString('latin1')).not.toMatch(/hunter2/);
});

test('what a server writes is not repeated', async () => {
  const port = await serve((socket) => {
    socket.once('data', () => {
      const fields = Buffer.from('SFATAL\0C28P01\0Mthe password hunter2 is wrong\0\0');
      const head = Buffer.alloc(5);
      head.write('E');
      head.writeInt32BE(fields.length + 4, 1);
      socket.end(Buffer.concat([head, fields]));
    });
  });
  expect(await attempt('postgres', port, 'disable', 5_000)).toEqual({
    reason: 'authentication',
    step: 'authenticate',
    detail: 'The server refuses the user name or the password.',
  });
});

test('a denied address and an unknown name fail before anything is connected to', async () => {
  const port = await serve(() => {});
  const at = (host: string, rules: Parameters<typeof createEgress>[0]) => {
    const egress = createEgress(rules);
    const settings: ServerSettings = { host, port, database: 'd', username: 'u', tls: { mode: 'disable' } };
    return postgres.open(settings, openParts({ egress }));
  };
  for (const host of ['localhost', '127.0.0.1', '2130706433', '0x7f.1', '::ffff:127.0.0.1', '0.0.0.0']) {
    await expect(at(host, { deny: ['127.0.0.0/8', '::1'] }), host).rejects.toMatchObject({
      reason: 'denied',
      message: expect.stringMatching(/EGRESS_DENY/),
    });
  }
  await expect(at('169.254.169.254', {})).rejects.toMatchObject({ reason: 'denied' });
  await expect(at('nothing.invalid', {})).rejects.toMatchObject({ reason: 'unreachable' });
  expect(sockets.size).toBe(0);
});

test('the addresses of a name are tried one by one', async () => {
  const port = await serve((socket) => socket.destroy());
  const egress = {
    ...createEgress({}),
    resolve: async () => [
      { address: '127.0.0.9', family: 4 as const },
      { address: '127.0.0.1', family: 4 as const },
    ],
  };
  const progress = new Progress(2_000);
  const settings: ServerSettings = {
    host: 'two.test',
    port,
    database: 'd',
    username: 'u',
    tls: { mode: 'disable' },
  };
  await postgres.open(settings, openParts({ egress, progress })).catch(() => {});
  expect(progress.steps.map(({ step, ok }) => [step, ok])).toEqual([
    ['resolve', true],
    ['connect', true],
  ]);
});
