import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Reads process ids, one per line. When its input ends, the process that started it has ended: clean up after it. */
const script = `
pid=0
while read -r line; do
  if [ "$line" = done ]; then exit 0; fi
  pid=$line
done
if [ "$pid" -gt 0 ]; then
  kill -s QUIT "$pid" 2>/dev/null
  n=0
  while kill -0 "$pid" 2>/dev/null && [ $n -lt 20 ]; do n=$((n + 1)); sleep 0.1; done
  kill -s KILL "$pid" 2>/dev/null
fi
if [ $# -gt 0 ]; then rm -rf -- "$@"; fi
`;

export interface Watchdog {
  /** The process to end when this one has ended; null while there is none. */
  watch(pid: number | null): void;
  /** Everything is cleaned up: the watchdog ends without doing anything. */
  release(): void;
}

/**
 * A shell next to this process that holds the other end of a pipe. However this process ends (also by SIGKILL, when no
 * exit handler runs), the pipe closes, and the shell ends the watched process by its id and removes `folders`.
 */
export function startWatchdog(folders: string[] = []): Watchdog {
  const shell = spawn('/bin/sh', ['-c', script, 'watchdog', ...folders], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A session of its own, so that Ctrl-C in the terminal does not end it before its work is done.
    detached: true,
  });
  shell.unref();
  const input = shell.stdin as typeof shell.stdin & { unref(): void };
  input.unref();
  input.on('error', () => {});
  return {
    watch: (pid) => void input.write(`${pid ?? 0}\n`),
    release: () => void input.end('done\n'),
  };
}

const portsFolder = join(tmpdir(), 'agent-platform-test-ports');

/** Whether this process now holds the file of `port`. A file whose process has ended is taken over. */
async function reserve(port: number): Promise<boolean> {
  const path = join(portsFolder, String(port));
  const holder = Number(await readFile(path, 'utf8').catch(() => Number.NaN));
  if (holder) {
    try {
      process.kill(holder, 0);
      return false;
    } catch {
      await rm(path, { force: true });
    }
  }
  return writeFile(path, String(process.pid), { flag: 'wx' }).then(
    () => true,
    () => false,
  );
}

/**
 * A free TCP port on 127.0.0.1, below the ranges that systems use for outgoing connections, so that none of the many
 * connections of a test run takes it before the caller has bound it. No other process that asks here gets the port while
 * this process lives: a server that was killed returns on its port, however long it was down.
 */
export async function freePort(): Promise<number> {
  await mkdir(portsFolder, { recursive: true });
  for (let tries = 0; tries < 100; tries++) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    if (!(await reserve(port))) continue;
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
  throw new Error('no free port found between 15000 and 31999');
}
