import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate, openEmbedded } from '../src/database/index.ts';
import { silentLogger } from '../src/lib/log.ts';
import {
  filesIn,
  isProgramCurrent,
  nodeOptions,
  programHash,
  programHashFile,
  startEnvironment,
} from '../src/program.ts';
import { toAscii } from './ascii.ts';
import { CannotBuild, importTool, makeFolder } from './console/needs.ts';
import { replaceFolder } from './console/replace-folder.ts';

/**
 * Builds the platform into `dist`: its sources and their packages as a few files, not made smaller, so that a stack trace
 * can be read. It does nothing if `dist` is current. `bin/start.js` runs it, or the sources if they have changed
 * since.
 *
 * `--if-possible`: as with tools/console.ts. `--start`: starts the platform once with a database of its own, so that the
 * compiled code is kept; an image has no place for it later.
 */
const { values } = parseArgs({ options: { 'if-possible': { type: 'boolean' }, start: { type: 'boolean' } } });
const root = join(import.meta.dirname, '..');

/** What has files beside its code (WebAssembly, native code) and finds them by its own place. */
const external = [/^@electric-sql\/pglite/, /^libpg-query/, /^@duckdb\//, /^tesseract\.js/, /^pdfjs-dist/];

/** Packages of jobs are as they are, but for the one that takes longest to load: a hundred small files. */
const isExternalToJobs = (id: string): boolean =>
  /^[a-z@]/.test(id) && !/^(?:@agent-platform|@duckdb\/node-api)/.test(id);

/** How a file names the thread that it starts, which is next to it. */
const aThread = /'\.\/([\w-]+-worker)\.[jt]s'/;
/** The name of a thread's program in `dist`. */
const threadName = (file: string): string => relative(root, file).replace(/\.ts$/, '').replaceAll('/', '-');
/** The programs of threads. */
const threads = ['src', 'packages'].flatMap((folder) =>
  filesIn(join(root, folder), (name, isFolder) =>
    isFolder ? name !== 'node_modules' : name.endsWith('-worker.ts'),
  ),
);

/** Expressions that say where a file is, as they are in a folder `to`. */
const placesOf = (file: string, to: string): Record<string, string> => {
  const path = (of: string) => JSON.stringify(relative(to, of));
  return {
    'import.meta.dirname': `(import.meta.dirname + '/' + ${path(dirname(file))})`,
    'import.meta.url': `(new URL(${path(file)}, import.meta.url).href)`,
  };
};

/** What is built: where it will be in `dist`, its entries, and the packages that stay where they are. */
interface Part {
  folder: string;
  input: Record<string, string>;
  external: RegExp[] | ((id: string) => boolean);
}

const sandbox = join(root, 'src', 'sandbox');
const partsOf: Part[] = [
  {
    folder: '.',
    input: {
      main: join(root, 'src', 'main.ts'),
      start: join(root, 'src', 'start.ts'),
      ...Object.fromEntries(threads.map((file) => [threadName(file), file])),
    },
    external,
  },
  // What src/sandbox/command.ts starts: a fresh process for each job, which would strip the types of each file.
  {
    folder: 'jobs',
    input: { main: join(sandbox, 'jobs', 'main.ts'), 'no-network': join(sandbox, 'jobs', 'no-network.ts') },
    external: isExternalToJobs,
  },
];

const buildProgram = async (): Promise<void> => {
  const hash = programHash(root);
  const { rolldown } = await importTool('rolldown', import('rolldown'));
  const folder = makeFolder(root);
  try {
    for (const part of partsOf) {
      const build = await rolldown({
        input: part.input,
        cwd: root,
        platform: 'node',
        external: part.external,
        // Packages are as they are; what is wrong in our own is an error of `npm run check`.
        logLevel: 'silent',
        plugins: [
          {
            name: 'places',
            transform: (code, id) => {
              if (!code.includes('import.meta.') || !id.startsWith(root)) return null;
              // The thread that it starts is in `dist` too.
              if (aThread.test(code)) {
                return code.replaceAll(
                  new RegExp(aThread, 'g'),
                  (_text, name) => `'./${threadName(join(dirname(id), name))}.js'`,
                );
              }
              const places = placesOf(id, join(root, 'dist', part.folder));
              return code.replaceAll(/import\.meta\.(dirname|url)\b/g, (place) => places[place]!);
            },
          },
        ],
      });
      await build.write({
        dir: join(folder, part.folder),
        format: 'esm',
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        // The licenses of the packages are with them, in node_modules.
        comments: false,
        plugins: [
          {
            name: 'ascii',
            generateBundle: (_options, bundle) => {
              for (const chunk of Object.values(bundle))
                if (chunk.type === 'chunk') chunk.code = toAscii(chunk.code);
            },
          },
        ],
      });
      await build.close();
    }
    await prepareDatabase(folder);
    writeFileSync(join(folder, programHashFile), hash);
    // A new temporary folder is its owner's alone, and the platform may run as another user.
    chmodSync(folder, 0o755);
    replaceFolder(join(root, 'dist'), folder);
  } finally {
    if (existsSync(folder)) rmSync(folder, { recursive: true });
  }
};

/** Makes `database` in the folder: a new embedded database with all migrations, which each first start copies. */
const prepareDatabase = async (folder: string): Promise<void> => {
  const database = await openEmbedded(folder, silentLogger);
  await migrate(database, silentLogger);
  await database.close();
  const made = join(folder, 'database');
  chmodSync(made, 0o755);
  for (const entry of readdirSync(made, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
};

const startOnce = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-platform-'));
  const env = { ...startEnvironment, PATH: process.env.PATH, DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'info' };
  const platform = spawn(process.execPath, [...nodeOptions, join(root, 'bin', 'start.js')], {
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
