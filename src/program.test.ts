import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isProgramCurrent, programHash, programHashFile } from './program.ts';

const project = (): string => {
  const root = mkdtempSync(join(tmpdir(), 'ap-program-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ['src/agents', 'packages/cron/src', 'migrations', 'dist'])
    mkdirSync(join(root, folder), { recursive: true });
  const files = [
    'src/main.ts',
    'src/agents/index.ts',
    'packages/cron/src/index.ts',
    'packages/tsconfig.json',
    'migrations/0001_agents.sql',
  ];
  for (const file of [...files, 'package-lock.json']) writeFileSync(join(root, file), `// ${file}`);
  writeFileSync(join(root, 'dist', programHashFile), programHash(root));
  return root;
};

test.for([
  ['a source that is edited', 'src/agents/index.ts'],
  ['a new source', 'src/agents/store.ts'],
  ['a package of ours', 'packages/cron/src/index.ts'],
  ['a migration', 'migrations/0002_schedules.sql'],
  ['the lock', 'package-lock.json'],
] as const)('a build is not run after a change: %s', ([, file]) => {
  const root = project();
  expect(isProgramCurrent(root)).toBe(true);
  writeFileSync(join(root, file), '// another');
  expect(isProgramCurrent(root)).toBe(false);
});

test('a build is run after a change of what is not in it, and never without its hash', () => {
  const root = project();
  writeFileSync(join(root, 'src/agents/index.test.ts'), '');
  expect(isProgramCurrent(root)).toBe(true);
  rmSync(join(root, 'dist', programHashFile));
  expect(isProgramCurrent(root)).toBe(false);
});

test('a source that is removed makes another hash', () => {
  const root = project();
  rmSync(join(root, 'src/agents/index.ts'));
  expect(isProgramCurrent(root)).toBe(false);
});
