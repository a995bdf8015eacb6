import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { adminKey } from '../harness/process.ts';
import type { Fixture } from './fixture.ts';

const bin = fileURLToPath(new URL('../../bin/agent-platform.js', import.meta.url));

export interface CommandResult {
  status: number;
  out: string;
  err: string;
}

/** Runs the command `agent-platform` as the administrator of the platform. */
export const runCommand = async (
  at: Fixture,
  args: readonly string[],
  {
    env = {},
    input = '',
    cwd,
    interrupts = 0,
  }: {
    env?: Record<string, string>;
    input?: string;
    cwd?: string;
    /** How often SIGINT is sent from when it begins to print, 20 ms apart. */
    interrupts?: number;
  } = {},
): Promise<CommandResult> => {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { PATH, HOME, AGENT_PLATFORM_URL: at.test.origin, AGENT_PLATFORM_KEY: adminKey, ...env },
  });
  child.stdin.end(input);
  child.stdout.once('data', async () => {
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
