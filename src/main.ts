import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { isProgramCurrent } from './program.ts';

// Compiled code is kept for the next start, and it is written when this one is ready (start.ts). If nothing can be
// written there, Node goes on without it.
const root = join(import.meta.dirname, '..');
enableCompileCache(join(root, 'node_modules', '.cache', 'node'));
await import(isProgramCurrent(root) ? '../dist/start.js' : './start.ts');
