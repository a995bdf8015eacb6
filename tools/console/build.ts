import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { importTool, makeFolder } from './needs.ts';
import { writePageFiles } from './page-files.ts';
import { replaceFolder } from './replace-folder.ts';
import { builtFile, unfinishedPrefix } from './state.ts';

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

/**
 * Fonts and pictures are compressed already, index.html gets a nonce for each response, and `.vite` is not served.
 */
const isCompressible = (file: string): boolean =>
  /\.(js|css|svg|json|txt|webmanifest)$/.test(file) && !file.startsWith('.');

/** Writes `.br` and `.gz` next to what they make smaller, so that no response is compressed when it is sent. */
const compress = async (folder: string): Promise<void> => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  await Promise.all(
    files.filter(isCompressible).map(async (file) => {
      const content = readFileSync(join(folder, file));
      const [br, gz] = await Promise.all([
        brotli(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
        gzipped(content, { level: constants.Z_BEST_COMPRESSION }),
      ]);
      if (br.length < content.length) writeFileSync(join(folder, `${file}.br`), br);
      if (gz.length < content.length) writeFileSync(join(folder, `${file}.gz`), gz);
    }),
  );
};

/** Longer than any build takes: an older unfinished folder belongs to a process that was killed. */
const abandonedAfterMs = 10 * 60_000;

const removeAbandoned = (folder: string): void => {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(unfinishedPrefix))) {
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > abandonedAfterMs) rmSync(path, { recursive: true, force: true });
  }
};

/** Builds the application and puts it into `console/dist`, with `hash` as what it was built from. */
export const buildConsole = async (root: string, hash: string): Promise<void> => {
  // React has a slower build for every other value, and Vite keeps one that is set.
  process.env.NODE_ENV = 'production';
  const { build } = await importTool('vite', import('vite'));
  await importTool('@vitejs/plugin-react', import('@vitejs/plugin-react'));
  // Its types bring those of a browser, which are not those of Node.
  await importTool('preact', (async () => import.meta.resolve('preact'))());
  const folder = join(root, 'console');
  removeAbandoned(folder);
  const outDir = makeFolder(folder);
  try {
    for (const config of ['vite.config.ts', 'approve.config.ts']) {
      await build({
        root: folder,
        configFile: join(folder, config),
        logLevel: 'warn',
        build: { outDir, emptyOutDir: false },
      });
    }
    await writePageFiles(root, outDir);
    await compress(outDir);
    writeFileSync(join(outDir, builtFile), hash);
    // A new temporary folder is its owner's alone, and the platform may run as another user.
    chmodSync(outDir, 0o755);
    replaceFolder(join(folder, 'dist'), outDir);
  } finally {
    if (existsSync(outDir)) rmSync(outDir, { recursive: true });
  }
};
