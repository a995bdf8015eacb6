import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildHash } from '../../tools/console/state.ts';

const root = join(import.meta.dirname, '..', '..');

const documentOf = (path: string, schema: object): string =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: {
      [path]: {
        get: {
          operationId: `get${path.slice(1)}`,
          responses: {
            200: {
              description: 'd',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
            },
          },
        },
      },
    },
    components: { schemas: { Thing: { type: 'object', properties: schema } } },
  });

/** `npm run console` in a project with an application of one script, built with the tools of this project. */
describe('the build of the application', () => {
  let folder: string;
  const at = (...path: string[]) => join(folder, ...path);
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, [at('tools', 'console.ts'), ...args], { stdio: 'pipe' });
    const exited = new Promise((resolve) => child.once('close', resolve));
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await exited, lines: out.split('\n').filter(Boolean), err };
  };
  const dist = () => readdirSync(at('console', 'dist'), { recursive: true, encoding: 'utf8' }).sort();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ap-build-'));
    await mkdir(at('console', 'src', 'features'), { recursive: true });
    await mkdir(at('tools'));
    await mkdir(at('src'));
    await cp(join(root, 'src', 'program.ts'), at('src', 'program.ts'));
    await cp(join(root, 'tools', 'console.ts'), at('tools', 'console.ts'));
    await cp(join(root, 'tools', 'console'), at('tools', 'console'), { recursive: true });
    for (const [name, content] of Object.entries({
      'package.json': '{"type":"module"}',
      'package-lock.json': '{}',
      'openapi.json': documentOf('/things', { a: { type: 'string' } }),
      'openapi-app.json': documentOf('/thing', { a: { type: 'string' } }),
      'console/index.html':
        '<meta name="csp-nonce" content="__CSP_NONCE__"><script type="module" src="/src/main.js"></script>',
      'console/vite.config.ts': 'export default { build: { manifest: true } };',
      'console/src/main.js': `console.log(${JSON.stringify('a long text '.repeat(100))});`,
    })) {
      await writeFile(at(name), content);
    }
    await symlink(join(root, 'node_modules'), at('node_modules'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('makes the files that the platform serves, and the types of both documents, and is quiet while they are current', async () => {
    const first = await run('--if-possible');
    expect(first, first.err).toMatchObject({
      code: 0,
      lines: [expect.stringMatching(/^The application is built/)],
    });
    const script = dist().find((file) => /^assets\/index-.*\.js$/.test(file))!;
    expect(dist()).toEqual(
      [
        '.built',
        '.vite',
        '.vite/manifest.json',
        '.vite/pages.json',
        'assets',
        'index.html',
        script,
        `${script}.br`,
        `${script}.gz`,
      ].sort(),
    );
    const content = (name: string) => readFileSync(at('console', 'dist', name));
    expect(brotliDecompressSync(content(`${script}.br`))).toEqual(content(script));
    expect(gunzipSync(content(`${script}.gz`))).toEqual(content(script));
    // Others than the one who built it may read it.
    expect(statSync(at('console', 'dist')).mode & 0o777).toBe(0o755);
    const types = readFileSync(at('console', 'src', 'api', 'types.gen.ts'), 'utf8');
    expect(types).toContain("url: '/api/v2/things'");
    expect(types).toContain("url: '/app/api/thing'");
    expect(types.match(/export type Thing = /g)).toHaveLength(1);

    const { ino } = statSync(at('console', 'dist'));
    expect(await run('--if-possible')).toEqual({ code: 0, lines: [], err: '' });
    expect(statSync(at('console', 'dist')).ino).toBe(ino);
  });

  test('is made again when a source, a document or the lock changed, or a file is gone', async () => {
    await run();
    const changes: [string, () => Promise<void>][] = [
      ['a source', () => writeFile(at('console', 'src', 'main.js'), 'console.log(2)')],
      ['a new source', () => writeFile(at('console', 'src', 'more.js'), '')],
      ['a renamed source', () => rename(at('console', 'src', 'more.js'), at('console', 'src', 'other.js'))],
      [
        'a document',
        () => writeFile(at('openapi-app.json'), documentOf('/other', { a: { type: 'string' } })),
      ],
      ['the lock', () => writeFile(at('package-lock.json'), '{"a":1}')],
      ['the build itself', () => writeFile(at('tools', 'console', 'build.ts'), '')],
    ];
    const hashes = [buildHash(folder)];
    const buildTool = readFileSync(at('tools', 'console', 'build.ts'));
    for (const [what, change] of changes) {
      await change();
      expect(hashes, what).not.toContain(buildHash(folder));
      hashes.push(buildHash(folder));
    }
    await writeFile(at('tools', 'console', 'build.ts'), buildTool);
    expect((await run()).lines).toHaveLength(1);
    const types = at('console', 'src', 'api', 'types.gen.ts');
    expect(readFileSync(types, 'utf8')).toContain("url: '/app/api/other'");

    await rm(at('console', 'dist'), { recursive: true });
    await rm(types);
    expect(await run('--types')).toMatchObject({ code: 0, lines: [] });
    expect([existsSync(types), existsSync(at('console', 'dist'))]).toEqual([true, false]);
    expect((await run()).lines).toHaveLength(1);
  });

  test('several builds at the same time leave one that is complete, and nothing else', async () => {
    const runs = await Promise.all([run(), run(), run()]);
    expect(runs.map(({ code, err }) => [code, err])).toEqual(runs.map(() => [0, '']));
    const html = readFileSync(at('console', 'dist', 'index.html'), 'utf8');
    expect(dist()).toContain(/src="\/(assets\/[^"]+)"/.exec(html)![1]);
    expect(readdirSync(at('console')).sort()).toEqual(['dist', 'index.html', 'src', 'vite.config.ts']);
    expect(await run()).toMatchObject({ code: 0, lines: [] });
  });

  test('builds that end at the same instant do not break each other', async () => {
    const program = `
      import { mkdirSync, writeFileSync } from 'node:fs';
      import { replaceFolder } from '${join(root, 'tools', 'console', 'replace-folder.ts')}';
      for (let i = 0; i < 1500; i++) {
        const build = '${folder}/build-' + process.pid + '-' + i;
        mkdirSync(build);
        writeFileSync(build + '/index.html', '');
        replaceFolder('${folder}/dist', build);
      }`;
    const ended = await Promise.all(
      [1, 2, 3].map(async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' });
        return text(child.stderr);
      }),
    );
    expect(ended).toEqual(['', '', '']);
    expect(readdirSync(at('dist'))).toEqual(['index.html']);
    expect(readdirSync(folder).filter((name) => name.startsWith('build-'))).toEqual([]);
  });

  test('without the build tools it says so, and fails only if it was asked to build', async () => {
    await rm(at('node_modules'));
    const line =
      /^The application is not built: @hey-api\/openapi-ts is not installed\. `npm ci` without --omit=dev/;
    const skipped = { code: 0, lines: [expect.stringMatching(line)], err: '' };
    expect(await run('--if-possible')).toEqual(skipped);
    expect(await run()).toEqual({ ...skipped, code: 1 });
    expect(existsSync(at('console', 'dist'))).toBe(false);
  });

  test('a source that does not build is an error, and the last build stays', async () => {
    await run();
    const before = dist();
    await writeFile(at('console', 'src', 'main.js'), 'this is no script');
    const { code, err } = await run('--if-possible');
    expect(code).toBe(1);
    expect(err).toContain('main.js');
    expect(dist()).toEqual(before);
    expect(readdirSync(at('console')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('two schemas with one name that differ are an error that names them', async () => {
    await writeFile(at('openapi-app.json'), documentOf('/thing', { a: { type: 'number' } }));
    const { code, err } = await run();
    expect(code).toBe(1);
    expect(err).toMatch(/openapi-app\.json: .*schema Thing/);
  });
});
