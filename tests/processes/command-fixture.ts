import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Fixture } from '../contract/fixture.ts';
import { adminKey } from '../harness/process.ts';

const bin = fileURLToPath(new URL('../../bin/agent-platform.js', import.meta.url));

export interface CommandResult {
  status: number;
  out: string;
  err: string;
}

interface CommandOptions {
  env?: Record<string, string>;
  input?: string;
  cwd?: string;
  /** How often SIGINT is sent from when it begins to print, 20 ms apart. */
  interrupts?: number;
  /** The stream on which it begins to print; stdout by default. */
  printsOn?: 'stdout' | 'stderr';
}

/** Runs the command `agent-platform` for the platform at `url`, as its administrator unless `env` has another key. */
export const runCommandAt = async (
  url: string,
  args: readonly string[],
  { env = {}, input = '', cwd, interrupts = 0, printsOn = 'stdout' }: CommandOptions = {},
): Promise<CommandResult> => {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { PATH, HOME, AGENT_PLATFORM_URL: url, AGENT_PLATFORM_KEY: adminKey, ...env },
  });
  child.stdin.end(input);
  child[printsOn].once('data', async () => {
    for (let sent = 0; sent < interrupts; sent++) {
      child.kill('SIGINT');
      await sleep(20);
    }
  });
  const [out, err, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1))),
  ]);
  return { status, out, err };
};

/** The same for the platform of a fixture. */
export const runCommand = (
  at: Fixture,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> => runCommandAt(at.test.origin, args, options);
