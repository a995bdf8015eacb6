import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

/** Reads process ids, one a line. When its input ends, the process that started it is gone: clear up after it. */
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
  /** The process to end when this one is gone; null while there is none. */
  watch(pid: number | null): void;
  /** All is cleared up: the watchdog goes without doing anything. */
  release(): void;
}

/**
 * A shell beside this process, holding the other end of a pipe: however this process ends (SIGKILL too, where no
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

/**
 * A free TCP port on 127.0.0.1, below the ranges that systems take for outgoing connections, so that none of
 * the many connections of a test run is given it before the one that asked has bound it.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
  throw new Error('no free port found between 15000 and 31999');
}
