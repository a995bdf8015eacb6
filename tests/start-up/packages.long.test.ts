import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const packages = readdirSync(join(root, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const execute = promisify(execFile);
const run = (file: string, args: string[], cwd: string) =>
  execute(file, args, { cwd }).catch((failed) => {
    throw new Error(`${failed.message}\n${failed.stdout}`);
  });

describe.each(packages)('the package %s as it would be published', (name) => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ap-package-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('has its license, JavaScript and types, no tests, and runs the example of its README', async () => {
    const source = join(folder, 'repository/packages', name);
    await cp(join(root, 'packages', name), source, { recursive: true });
    for (const shared of ['tsconfig.json', 'tools', 'packages/tsconfig.json']) {
      await symlink(join(root, shared), join(folder, 'repository', shared));
    }
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const manifest = readFileSync(join(source, 'package.json'), 'utf8');
    await run('npm', ['pack'], source);
    expect(readFileSync(join(source, 'package.json'), 'utf8')).toBe(manifest);
    const packed = (await readdir(source)).find((file) => file.endsWith('.tgz'))!;

    // Node runs no TypeScript inside of node_modules, so this is the JavaScript.
    const project = join(folder, 'project');
    const installed = join(project, 'node_modules', JSON.parse(manifest).name);
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', join(source, packed), '-C', installed, '--strip-components=1'], folder);
    const files = await readdir(installed, { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts']),
    );
    expect(files.filter((file) => /test|^src/.test(file))).toEqual([]);

    const readme = readFileSync(join(installed, 'README.md'), 'utf8');
    const block = (language: string) =>
      readme.match(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'm'))![1]!;
    await writeFile(join(project, 'package.json'), '{"type":"module"}');
    await writeFile(join(project, 'main.ts'), block('ts'));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const strict = ['--strict', '--target', 'esnext', '--module', 'nodenext', '--types', 'node', 'main.ts'];
    await run(process.execPath, [tsc, ...strict], project);
    const { stdout } = await run(process.execPath, ['main.js'], project);
    expect(stdout).toBe(block('text'));
  });
});
