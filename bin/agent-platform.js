#!/usr/bin/env node
// Runs src/command/main.ts on the Node that `npm ci` installed. `npx` may run this file on the machine's own, which can
// be too old to run TypeScript.
import { fileURLToPath } from 'node:url';
import { runOnPlatformNode, runsTypeScript } from './node.js';

const main = new URL('../src/command/main.ts', import.meta.url);
if (runsTypeScript) await import(main.href);
else runOnPlatformNode([fileURLToPath(main), ...process.argv.slice(2)]);
