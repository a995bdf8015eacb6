import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes the package in the current folder ready for `npm pack` and `npm publish`: builds `src` into `dist` and points
 * `exports` there. With `--undo`, afterwards, they point at the sources again: here Node runs those, but it does not
 * run TypeScript inside of `node_modules`.
 */
const file = join(process.cwd(), 'package.json');
const text = readFileSync(file, 'utf8');
if (process.argv.includes('--undo')) {
  writeFileSync(
    file,
    text.replaceAll(/\{ "types": "[^"]+", "default": "\.\/dist\/([^"]+)\.js" \}/g, '"./src/$1.ts"'),
  );
} else {
  const tsc = join(import.meta.dirname, '../node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  const built = text.replaceAll(
    /"\.\/src\/([^"]+)\.ts"/g,
    '{ "types": "./dist/$1.d.ts", "default": "./dist/$1.js" }',
  );
  writeFileSync(file, built);
}
