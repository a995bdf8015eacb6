import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup, Resolver } from 'node:dns/promises';
import { appendFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect, createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { WASI } from 'node:wasi';
import { Worker } from 'node:worker_threads';

/** A program in place of the jobs of the sandbox: it gets `{job, input}` and does what a taken over job could try. */

const attempt = async (what: () => unknown): Promise<string> => {
  try {
    await what();
    return 'done';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};

/** Resolves at the first event of the socket, and rejects at an error. */
const first = (
  socket: { once: (event: string, listener: (value: Error) => void) => unknown },
  event: string,
) =>
  new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
  });

const tries: Record<string, (input: { foreign: string; port: number }) => unknown> = {
  connect: ({ port }) => first(connect(port, '127.0.0.1'), 'connect'),
  http: ({ port }) => first(get({ port, host: '127.0.0.1' }), 'response'),
  fetch: async ({ port }) =>
    fetch(`http://127.0.0.1:${port}`).catch((error: Error) => {
      throw error.cause ?? error;
    }),
  undici: async ({ port }) => {
    const { request } = await import('undici');
    return request(`http://127.0.0.1:${port}`);
  },
  tls: ({ port }) => first(connectTls(port, '127.0.0.1'), 'connect'),
  'web socket': ({ port }) => new WebSocket(`ws://127.0.0.1:${port}`),
  'module again': ({ port }) =>
    first(process.getBuiltinModule('node:net').createConnection(port, '127.0.0.1'), 'connect'),
  'own socket': ({ port }) => new Socket().connect(port, '127.0.0.1'),
  binding: () => Reflect.get(process, 'binding').call(process, 'tcp_wrap'),
  resolve: () => lookup('localhost'),
  resolver: () => new Resolver().resolve('localhost'),
  listen: () => first(createServer().listen(0), 'listening'),
  send: ({ port }) =>
    new Promise((resolve, reject) => {
      const socket = createSocket('udp4');
      socket.once('error', reject);
      socket.send('x', port, '127.0.0.1', (error) => (error ? reject(error) : resolve(null)));
    }),
  read: ({ foreign }) => readFileSync(foreign),
  list: ({ foreign }) => readdirSync(join(foreign, '..')),
  write: ({ foreign }) => appendFileSync(foreign, 'x'),
  'write beside': () => writeFileSync('../beside', 'x'),
  link: ({ foreign }) => symlinkSync(foreign, 'link'),
  spawn: () => first(spawn('true'), 'spawn'),
  worker: () => new Worker('', { eval: true, execArgv: [] }),
  wasi: () => new WASI({ version: 'preview1', preopens: { '/': '/' } }),
  addon: () => process.dlopen({ exports: {} }, '/lib/none.node'),
  // biome-ignore lint/security/noGlobalEval: it is what is tried
  eval: () => globalThis.eval('1'),
};

/** What a job left in the process. */
let left: unknown = null;

const deeds: Record<string, (input: never) => unknown> = {
  loop: () => {
    for (;;) {}
  },
  wait: () => new Promise(() => {}),
  heap: () => {
    const kept: unknown[] = [];
    for (;;) kept.push({ number: kept.length, text: [kept.length] });
  },
  buffers: () => {
    const kept: Buffer[] = [];
    for (;;) kept.push(Buffer.alloc(16 * 1024 * 1024, 1));
  },
  shout: () => {
    for (;;) writeFileSync(1, 'x'.repeat(65_536));
  },
  garble: () => writeFileSync(1, '{"output":\n'),
  exit: () => process.exit(0),
  leave: (what) => {
    const found = left;
    left = what;
    return { found, pid: process.pid };
  },
  'exit later': () => void setTimeout(() => process.exit(0), 50),
  'shout later': () => void setTimeout(() => writeFileSync(1, '{"output":1}\n'), 50),
  'buffers later': () => void setTimeout(deeds.buffers as () => void, 50),
  environment: () => ({ env: { ...process.env }, cwd: process.cwd(), pid: process.pid }),
  tries: async (input: { foreign: string; port: number }) => {
    const results: Record<string, string> = {};
    for (const [name, what] of Object.entries(tries)) results[name] = await attempt(() => what(input));
    return results;
  },
  'leave a link': ({ foreign }: { foreign: string }) => {
    for (const name of ['a', 'b']) writeFileSync(name, 'x');
    return attempt(() => symlinkSync(foreign, 'c'));
  },
};

process.stdin.on('data', async (line) => {
  const { job, input } = JSON.parse(String(line));
  writeFileSync(1, `${JSON.stringify({ output: (await deeds[job]!(input as never)) ?? null })}\n`);
});
process.stdin.once('end', () => process.kill(process.pid, 'SIGKILL'));
