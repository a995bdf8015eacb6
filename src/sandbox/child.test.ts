import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { processesIn } from '../../tests/harness/proc.ts';
import { testServices } from '../../tests/harness/services.ts';
import { until } from '../../tests/harness/wait.ts';
import { xlsx } from '../../tests/harness/zip.ts';
import { readConfig } from '../config.ts';
import { offlineDatabase } from '../database/index.ts';
import { Child } from './child.ts';
import { childCommand } from './command.ts';
import { createSandbox } from './index.ts';
import type { JobName } from './jobs.ts';
import { Processes } from './processes.ts';

const harness = join(import.meta.dirname, '../../tests/harness');
const program = join(harness, 'hostile-job.ts');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ap-sandbox-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

/** Runs a deed of the hostile program; afterwards its process and its folder must be gone. */
const run = async (deed: string, input: unknown = null, timeLimitMs = 20_000, signal?: AbortSignal) => {
  const child = await Child.start('sqlite', join(folder, 'jobs'), program);
  try {
    return await child.run(deed as JobName, input, timeLimitMs, signal);
  } finally {
    await child.end();
    expect([isAlive(child.pid!), existsSync(child.folder)]).toEqual([false, false]);
  }
};

test('a large reply waits until the platform has time to read it', async () => {
  const job = await mkdtemp(join(folder, 'large-'));
  const rows = Array.from({ length: 20_000 }, (_, i) => [`row ${i} `.padEnd(50, '-')]);
  await writeFile(join(job, 'source'), xlsx({ Sheet: rows }));
  const [command, args] = childCommand('documents', job);
  const child = spawn(command, args, { cwd: job, env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const input = { type: 'xlsx', ranges: null, maxPages: 1, maxCharacters: 10_000_000 };
  child.stdin.write(`${JSON.stringify({ job: 'documentRead', input })}\n`);
  // Nothing is taken out of the pipe: it is full when the process waits, or has given up.
  await once(child.stdout, 'readable');
  await until(() => /\) [SZ] /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8')));
  let reply = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    reply += chunk;
    if (reply.endsWith('\n')) break;
  }
  expect(JSON.parse(reply).output.pages[0].lines).toHaveLength(rows.length);
});

describe('a hostile job', () => {
  test('sees no environment and works in its own folder', async () => {
    const { env, cwd } = (await run('environment')) as { env: object; cwd: string };
    expect(env).toEqual({});
    expect(cwd).toContain(join(folder, 'jobs', 'job-'));
  });

  test('reaches no network, no other file, no process, no thread and no native code', async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests++;
      response.end();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await until(() => server.listening);
    const foreign = join(folder, 'encryption.key');
    await writeFile(foreign, 'key');
    const { port } = server.address() as AddressInfo;
    const results = (await run('tries', { foreign, port })) as Record<string, string>;
    const { eval: evaluated, addon, ...others } = results;
    expect(new Set(Object.values(others))).toEqual(new Set(['ERR_ACCESS_DENIED']));
    expect(Object.keys(others)).toHaveLength(21);
    expect(evaluated).toMatch(/EvalError/);
    expect(addon).toBe('ERR_DLOPEN_DISABLED');
    expect([requests, readFileSync(foreign, 'utf8')]).toEqual([0, 'key']);
  });

  test.each([
    ['loops', 'loop', 'time_limit', 300],
    ['does nothing', 'wait', 'time_limit', 300],
    ['fills the heap', 'heap', 'memory', 120_000],
    ['fills memory outside the heap', 'buffers', 'memory', 30_000],
    ['writes without end', 'shout', 'too_large', 30_000],
    ['writes what is no result', 'garble', 'died', 30_000],
    ['ends without a result', 'exit', 'died', 30_000],
  ])('that %s is stopped', async (_what, deed, reason, timeLimitMs) => {
    await expect(run(deed, null, timeLimitMs)).rejects.toMatchObject({ reason });
  });

  test('ends when its caller gives up', async () => {
    const controller = new AbortController();
    const result = run('loop', null, 20_000, controller.signal);
    controller.abort(new Error('the client has gone'));
    await expect(result).rejects.toThrow('the client has gone');
  });

  // The kernel kills a child when its parent dies after that was asked for. One whose parent died before has another
  // parent, as here.
  test.skipIf(spawnSync('/bin/sh', ['-c', 'setpriv --pdeathsig KILL true']).status !== 0)(
    'does not begin if the platform is not its parent',
    async () => {
      await mkdir(join(folder, 'orphan'));
      const [command, args] = childCommand('sqlite', join(folder, 'orphan'), program);
      const start = (script: string) =>
        spawnSync('/bin/sh', ['-c', script, 'sh', command, ...args], {
          input: `${JSON.stringify({ job: 'environment', input: null })}\n`,
          encoding: 'utf8',
          cwd: join(folder, 'orphan'),
        });
      const orphan = start('"$@"; exit $?');
      expect([orphan.status, orphan.stdout]).toEqual([1, '']);
      // Without a shell in between it is our child, and works.
      expect(start('exec "$@"').stdout).toContain('"output"');
    },
  );

  // Only Linux ends a process with its parent; elsewhere a loop ends at its limit of processor time.
  test.skipIf(process.platform !== 'linux').each(['loop', 'wait', 'none'])(
    'ends with the platform that is killed (%s)',
    async (deed) => {
      const parent = spawn(process.execPath, [join(harness, 'sandbox-parent.ts'), folder, program, deed], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let output = '';
      parent.stdout.on('data', (text) => {
        output += text;
      });
      await until(() => output.endsWith('\n'));
      const pid = Number(output);
      // It has its limits and does what it does: the shell before it is gone.
      await until(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--permission'));
      expect(isAlive(pid)).toBe(true);
      parent.kill('SIGKILL');
      await until(() => !isAlive(pid));
    },
  );
});

describe('the places for jobs', () => {
  test('are as many as are allowed, the others wait or are refused', async () => {
    const processes = new Processes(join(folder, 'places'), () => 1, program);
    let running = 0;
    let most = 0;
    const use = (waitMs: number | null, signal?: AbortSignal) =>
      processes.use('root', 'sqlite', { waitMs, signal }, async (child) => {
        most = Math.max(most, ++running);
        const result = await child.run('environment' as JobName, null, 20_000);
        running--;
        return result;
      });
    const gone = new AbortController();
    const [first, second, refused, left] = [use(null), use(60_000), use(1), use(null, gone.signal)];
    const refusals = Promise.all([
      expect(refused).rejects.toMatchObject({ code: 'service_unavailable' }),
      expect(left).rejects.toThrow('gone'),
    ]);
    gone.abort(new Error('gone'));
    await refusals;
    await Promise.all([first, second]);
    expect(most).toBe(1);
    await processes.stop();
    await expect(use(null)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await readdir(join(folder, 'places'))).toEqual([]);
  });

  test('end with the platform that stops', async () => {
    const processes = new Processes(join(folder, 'stopped'), () => 2, program);
    const endless = processes.use('root', 'sqlite', { waitMs: null }, (child) =>
      child.run('wait' as JobName, null, 20_000),
    );
    const result = expect(endless).rejects.toMatchObject({ reason: 'died' });
    await until(async () => (await readdir(join(folder, 'stopped')).catch(() => [])).length > 0);
    await processes.stop();
    await result;
  });

  test('are swept at the start', async () => {
    const left = join(folder, 'sandbox', 'job-left');
    await mkdir(left, { recursive: true });
    await createSandbox(
      testServices(offlineDatabase, { config: readConfig({ DATA_DIR: folder }) }),
    ).start?.();
    expect(existsSync(left)).toBe(false);
  });
});

// Their folders show what waits; where there is no /proc, its process cannot be found.
describe.skipIf(process.platform !== 'linux')('a process that waits in advance', () => {
  const waiting = async (name: string, max = 2) => {
    const parent = join(folder, name);
    const processes = new Processes(parent, () => max, program);
    onTestFinished(() => processes.stop());
    const use = (deed = 'environment', timeLimitMs = 20_000) =>
      processes.use('root', 'duckdb', { waitMs: null }, async (child) => {
        await child.run(deed as JobName, null, timeLimitMs);
        return child.folder;
      });
    const first = await use();
    /** The folder of the one that waits now. */
    const spare = async (): Promise<string> => {
      await until(async () => (await readdir(parent)).length === 1 && !existsSync(first));
      return join(await realpath(parent), (await readdir(parent))[0]!);
    };
    return { parent, use, spare };
  };
  test('does one job and is gone', async () => {
    const { use, spare } = await waiting('once');
    const one = await spare();
    expect(await use()).toBe(one);
    await until(() => !existsSync(one));
    expect(await spare()).not.toBe(one);
  });

  test('is replaced if it is killed', async () => {
    const { use, spare, parent } = await waiting('killed');
    const one = await spare();
    await until(() => processesIn(one).length > 0);
    for (const pid of processesIn(one)) process.kill(pid, 'SIGKILL');
    await until(async () => (await readdir(parent)).length === 0);
    expect(await use()).not.toBe(one);
  });

  test('is given to one of two that come at once', async () => {
    const { use, spare } = await waiting('two', 4);
    const one = await spare();
    const folders = await Promise.all([use(), use()]);
    expect(new Set(folders).size).toBe(2);
    expect(folders).toContain(one);
  });

  test.each([
    ['time', 'loop', 'time_limit', 300],
    ['memory', 'buffers', 'memory', 30_000],
    ['output', 'shout', 'too_large', 30_000],
  ])('has the limit of %s', async (_what, deed, reason, timeLimitMs) => {
    const { use, spare } = await waiting(`limit-${deed}`);
    await spare();
    await expect(use(deed, timeLimitMs)).rejects.toMatchObject({ reason });
  });
});

test.skipIf(process.platform !== 'linux')('a job that reads a file lets others go first', async () => {
  const child = await Child.start('sqlite', join(folder, 'jobs'), program);
  onTestFinished(() => child.end());
  const niceOf = () => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[16];
  expect(niceOf()).toBe('0');
  const run = child.run('frameRead', null, 20_000).catch(() => null);
  expect(niceOf()).toBe('5');
  await run;
});
