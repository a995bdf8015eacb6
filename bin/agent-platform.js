#!/usr/bin/env node
// Runs src/command/main.ts on the Node that `npm ci` installed. `npx` may run this file on the machine's own, which can
// be too old to run TypeScript.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = new URL('../src/command/main.ts', import.meta.url);
if (Number.parseInt(process.versions.node, 10) >= 26) await import(main.href);
else {
  const node = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  // The terminal sends it to the child too, which may have to clean up first.
  process.on('SIGINT', () => {});
  const { status, error } = spawnSync(node, [fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  if (error)
    process.stderr.write('Node 26 is missing. Run `npm ci` in the folder of Agent Platform first.\n');
  process.exitCode = status ?? 1;
}
