import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildHash, isBuilt, typesAreCurrent } from './console/state.ts';

/**
 * Builds the application into `console/dist`, which the platform serves, and generates the types of its API from
 * openapi.json and openapi-app.json. It does nothing if both are current.
 *
 * `--if-possible`: where the build tools are not installed or the folder is read-only, one line says so, and the exit
 * code is 0; a source that does not build is still an error. npm runs it this way after an install (`prepare`) and
 * before `start`, `demo` and `test`. `--types`: only the types.
 *
 * It imports nothing but what Node has until there is something to do: with a current build it adds only the start of
 * a Node process to `npm start`.
 */
const { values } = parseArgs({ options: { 'if-possible': { type: 'boolean' }, types: { type: 'boolean' } } });
const root = join(import.meta.dirname, '..');

const makeCurrent = async (): Promise<void> => {
  const hash = buildHash(root);
  const builds = !values.types && !isBuilt(root, hash);
  if (!builds && typesAreCurrent(root)) return;

  const { CannotBuild } = await import('./console/needs.ts');
  try {
    const begun = performance.now();
    const { generateTypes } = await import('./console/types.ts');
    await generateTypes(root);
    if (!builds) return;
    const { buildConsole } = await import('./console/build.ts');
    await buildConsole(root, hash);
    console.log(`The application is built: console/dist (${Math.round(performance.now() - begun)} ms).`);
  } catch (error) {
    if (!(error instanceof CannotBuild)) throw error;
    console.log(`The application is not built: ${error.message}`);
    if (!values['if-possible']) process.exitCode = 1;
  }
};

await makeCurrent();
