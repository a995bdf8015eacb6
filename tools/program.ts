import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { isProgramCurrent, programHash, programHashFile } from '../src/program.ts';
import { CannotBuild, importTool, makeFolder } from './console/needs.ts';
import { replaceFolder } from './console/replace-folder.ts';

/**
 * Builds the platform into `dist`: its sources and their packages as a few files, not made smaller, so that a stack trace
 * can be read. It does nothing if `dist` is current. `src/main.ts` runs it, or the sources if they have changed since.
 *
 * `--if-possible`: as with tools/console.ts. `--start`: starts the platform once with a database of its own, so that the
 * compiled code is kept; an image has no place for it later.
 */
const { values } = parseArgs({ options: { 'if-possible': { type: 'boolean' }, start: { type: 'boolean' } } });
const root = join(import.meta.dirname, '..');

/** What has files beside its code (WebAssembly, native code) and finds them by its own place. */
const external = [/^@electric-sql\/pglite/, /^libpg-query/, /^@duckdb\//, /^tesseract\.js/, /^pdfjs-dist/];

/** Expressions that say where a file is, as they are in `dist`. */
const placesOf = (file: string): Record<string, string> => {
  const path = (to: string) => JSON.stringify(relative(join(root, 'dist'), to));
  return {
    'import.meta.dirname': `(import.meta.dirname + '/' + ${path(dirname(file))})`,
    'import.meta.url': `(new URL(${path(file)}, import.meta.url).href)`,
  };
};

const buildProgram = async (): Promise<void> => {
  const hash = programHash(root);
  const { rolldown } = await importTool('rolldown', import('rolldown'));
  const folder = makeFolder(root);
  try {
    const build = await rolldown({
      input: join(root, 'src', 'start.ts'),
      cwd: root,
      platform: 'node',
      external,
      // Packages are as they are; what is wrong in our own is an error of `npm run check`.
      logLevel: 'silent',
      plugins: [
        {
          name: 'places',
          transform: (code, id) => {
            if (!code.includes('import.meta.') || !id.startsWith(root)) return null;
            const places = placesOf(id);
            return code.replaceAll(/import\.meta\.(dirname|url)\b/g, (place) => places[place]!);
          },
        },
      ],
    });
    await build.write({
      dir: folder,
      format: 'esm',
      entryFileNames: 'start.js',
      chunkFileNames: '[name]-[hash].js',
    });
    await build.close();
    writeFileSync(join(folder, programHashFile), hash);
    // A new temporary folder is its owner's alone, and the platform may run as another user.
    chmodSync(folder, 0o755);
    replaceFolder(join(root, 'dist'), folder);
  } finally {
    if (existsSync(folder)) rmSync(folder, { recursive: true });
  }
};

const startOnce = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-platform-'));
  const env = { PATH: process.env.PATH, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'info' };
  const platform = spawn(process.execPath, [join(root, 'src', 'main.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const text of platform.stdout.setEncoding('utf8')) {
    if (text.includes('Agent Platform is ready')) platform.kill('SIGTERM');
  }
  rmSync(folder, { recursive: true });
};

const makeCurrent = async (): Promise<void> => {
  if (isProgramCurrent(root)) return;
  try {
    const begun = performance.now();
    await buildProgram();
    console.log(`The platform is built: dist (${Math.round(performance.now() - begun)} ms).`);
  } catch (error) {
    if (!(error instanceof CannotBuild)) throw error;
    console.log(`The platform is not built, and starts more slowly: ${error.message}`);
    if (!values['if-possible']) process.exitCode = 1;
  }
};

await makeCurrent();
if (values.start) await startOnce();
