import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { newMcpServer, type TestTool } from './tool-server.ts';

/**
 * A tool server over stdin and stdout. The first argument says how it behaves: `modern`; `legacy`, which ends when it
 * gets a message before `initialize`; `mute`, which does not answer those; `stubborn`, which ignores SIGTERM and the end of stdin, and starts a process of its own. It
 * writes the ids of its processes to the file of the second argument.
 */
const [mode = 'modern', pidFile] = process.argv.slice(2);

const tools: TestTool[] = [
  { name: 'environment', result: () => JSON.stringify({ ...process.env, PWD: process.cwd() }) },
  { name: 'pid', result: () => String(process.pid), annotations: { readOnlyHint: true } },
  { name: 'exit', result: () => process.exit(3) },
  { name: 'exit_idempotent', result: () => process.exit(3), annotations: { idempotentHint: true } },
  { name: 'grumble', result: () => String(process.stderr.write(`${'x'.repeat(200_000)}\n`)) },
];

const pids = [process.pid];
if (mode === 'stubborn') {
  process.on('SIGTERM', () => {});
  process.stdin.on('end', () => {});
  setInterval(() => {}, 1_000);
  const child = spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'inherit'] });
  pids.push(child.pid!);
}
if (pidFile) writeFileSync(pidFile, JSON.stringify(pids));

console.error(`started as ${mode} with ${process.env.SECRET_TOKEN ?? 'no secret'}`);

if (mode === 'legacy' || mode === 'mute') {
  const transport = new StdioServerTransport();
  await newMcpServer(() => tools).connect(transport);
  const deliver = transport.onmessage!;
  transport.onmessage = (message) => {
    if (!('method' in message && message.method === 'server/discover')) deliver(message);
    else if (mode === 'legacy') process.exit(1);
  };
} else serveStdio(() => newMcpServer(() => tools) as never);
