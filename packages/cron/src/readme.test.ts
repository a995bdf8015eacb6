import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '..');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const block = (language: string): string =>
  readme.match(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'm'))![1]!;

test('the example in the README prints what stands below it', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript'], {
    cwd: folder,
    input: block('ts'),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(stdout).toBe(block('text'));
});
