import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
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
  { env = {}, input = '', cwd }: { env?: Record<string, string>; input?: string; cwd?: string } = {},
): Promise<CommandResult> => {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { PATH, HOME, AGENT_PLATFORM_URL: at.test.origin, AGENT_PLATFORM_KEY: adminKey, ...env },
  });
  child.stdin.end(input);
  const [out, err, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1))),
  ]);
  return { status, out, err };
};
