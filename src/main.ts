import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { isProgramCurrent } from './program.ts';

/**
 * How the engine of Node 24 holds memory (decisions 0105 and 0110). Without them, traces at full speed leave hundreds of
 * megabytes that nothing uses any more. start.ts sets one more when the start is over.
 * - Threads that start later begin with a small heap: the one that reads JSON held 200 MB of texts.
 * - No object begins as an old one. The engine guesses from what was kept before, and here it guesses wrong: what an old
 *   object refers to is kept until the whole is collected, and a list of Work Items cost a third more.
 */
const memory = ['--initial-old-space-size=32', '--no-allocation-site-pretenuring'];
if (process.versions.node.startsWith('24.')) for (const flag of memory) setFlagsFromString(flag);

// Compiled code is kept for the next start, and it is written when this one is ready (start.ts). If nothing can be
// written there, Node goes on without it.
const root = join(import.meta.dirname, '..');
enableCompileCache(join(root, 'node_modules', '.cache', 'node'));
await import(pathToFileURL(join(root, isProgramCurrent(root) ? 'dist/start.js' : 'src/start.ts')).href);
