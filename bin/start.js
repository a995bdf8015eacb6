// Starts the platform, in this process: the build of src/main.ts, which runs the rest of the build or the sources, or
// src/main.ts itself where nothing is built. Plain JavaScript: with the first file of TypeScript Node loads a compiler,
// which takes 110 ms and 15 MB.
import { existsSync } from 'node:fs';

if (Number.parseInt(process.versions.node, 10) < 24) {
  // The build imports what older ones lack, and they do not read TypeScript: neither gets as far as a message.
  process.stderr.write(
    `configuration: Node ${process.versions.node} is too old; \`npm start\` runs the platform on the Node that \`npm ci\` installed\n`,
  );
  process.exit(1);
}
const built = new URL('../dist/main.js', import.meta.url);
await import(existsSync(built) ? built.href : '../src/main.ts');
