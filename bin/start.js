// Starts the platform, in this process: the build of src/main.ts, which runs the rest of the build or the sources, or
// src/main.ts itself where nothing is built. Plain JavaScript: with the first file of TypeScript Node loads a compiler,
// which takes 110 ms and 15 MB.
import { existsSync } from 'node:fs';

const built = new URL('../dist/main.js', import.meta.url);
await import(existsSync(built) ? built.href : '../src/main.ts');
