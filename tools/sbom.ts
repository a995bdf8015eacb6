import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Prints a bill of materials of the platform's packages: `npm run --silent sbom`. CycloneDX, made by npm. */
/** The exit code if npm is too old. */
const noSbom = 3;
const root = join(import.meta.dirname, '..');
const options = ['--omit=dev', '--package-lock-only', '--sbom-type=application', '--sbom-format=cyclonedx'];
const { status, stdout, stderr } = spawnSync('npm', ['sbom', ...options], {
  cwd: root,
  maxBuffer: 2 ** 28,
  encoding: 'utf8',
});
if (status !== 0) {
  // Some versions say it on standard output.
  const old = (stdout + stderr).includes('Unknown command');
  process.stderr.write(old ? 'This npm has no command `sbom`: use npm 10 or newer.\n' : stderr);
  process.exit(old ? noSbom : 1);
}
const bom = JSON.parse(stdout);
// npm gives the name of the folder.
bom.metadata.component.name = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).name;
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
