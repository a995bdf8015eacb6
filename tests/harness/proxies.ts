import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { findProgram } from './programs.ts';
import { selfSigned } from './self-signed.ts';
import { until } from './wait.ts';
import { freePort, startWatchdog } from './watchdog.ts';

/** The host name of the examples. */
const host = 'platform.example.com';

/** An example of docs/operations.md, and how it is started with other ports and our certificate. */
interface Example {
  language: string;
  /** The files of its folder, by name. */
  files: (example: string, at: { folder: string; port: number; platformPort: number }) => [string, string][];
  args: (folder: string) => string[];
}

const replaceAll = (text: string, changes: Record<string, string>): string => {
  let changed = text;
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`the example has no ${from}`);
    changed = changed.replaceAll(from, to);
  }
  return changed;
};

const examples: Record<'nginx' | 'caddy', Example> = {
  nginx: {
    language: 'nginx',
    files: (example, { folder, port, platformPort }) => {
      const server = replaceAll(example, {
        'listen 443': `listen 127.0.0.1:${port}`,
        '/etc/ssl/platform.pem': join(folder, 'cert.pem'),
        '/etc/ssl/platform.key': join(folder, 'key.pem'),
        '127.0.0.1:8080': `127.0.0.1:${platformPort}`,
      });
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      );
      // Its workers would be another user, who may not write here.
      const user = process.getuid?.() === 0 ? 'user root; ' : '';
      const main = `${user}daemon off; pid ${folder}/pid; error_log stderr; events {}`;
      return [['nginx.conf', `${main}\nhttp { access_log off; ${paths.join(' ')}\n${server}}`]];
    },
    args: (folder) => ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'],
  },
  caddy: {
    language: 'caddy',
    files: (example, { folder, port, platformPort }) => {
      const certificate = `tls ${join(folder, 'cert.pem')} ${join(folder, 'key.pem')}`;
      const site = replaceAll(example, {
        [`${host} {`]: `${host} {\n\t${certificate}`,
        '127.0.0.1:8080': `127.0.0.1:${platformPort}`,
      });
      const options = `admin off\n\tauto_https disable_redirects\n\thttps_port ${port}\n\tdefault_bind 127.0.0.1`;
      return [['Caddyfile', `{\n\t${options}\n}\n${site}`]];
    },
    args: (folder) => ['run', '--config', join(folder, 'Caddyfile')],
  },
};
export type ProxyName = keyof typeof examples;
export const proxies: Record<ProxyName, string | null> = {
  nginx: findProgram('nginx'),
  caddy: findProgram('caddy'),
};

export interface StartedProxy extends AsyncDisposable {
  /** `https://platform.example.com:PORT`. */
  origin: string;
  /** Connects to it whatever the host is called, and believes its certificate. */
  dispatcher: Agent;
}

/** Starts a proxy as docs/operations.md prints it, in front of the platform at `platformPort`. */
export const startProxy = async (name: ProxyName, platformPort: number): Promise<StartedProxy> => {
  const { language, files, args } = examples[name];
  const text = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const example = text.split(`\`\`\`${language}\n`)[1]!.split('```')[0]!;
  const folder = await mkdtemp(join(tmpdir(), `ap-${name}-`));
  const watchdog = startWatchdog([folder]);
  const port = await freePort();
  await mkdir(join(folder, 'logs'));
  const certificate: [string, string][] = [
    ['cert.pem', selfSigned.cert],
    ['key.pem', selfSigned.key],
  ];
  for (const [file, content] of [...certificate, ...files(example, { folder, port, platformPort })])
    await writeFile(join(folder, file), content);
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(proxies[name]!, args(folder), {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  watchdog.watch(child.pid!);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const dispatcher = new Agent({
    allowH2: false,
    connect: {
      rejectUnauthorized: false,
      lookup: (_host, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
    },
  });
  const stop = async () => {
    await dispatcher.destroy();
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
    watchdog.release();
  };
  const origin = `https://${host}:${port}`;
  try {
    const isUp = async () => child.exitCode !== null || (await fetch(`${origin}/healthz`, { dispatcher })).ok;
    await until(isUp);
    if (child.exitCode !== null) throw new Error('it ended');
  } catch (error) {
    await stop();
    throw new Error(`${name} did not start: ${String(error)}\n${log.slice(-2_000)}`);
  }
  return { origin, dispatcher, [Symbol.asyncDispose]: stop };
};
