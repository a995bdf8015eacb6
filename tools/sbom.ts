import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Prints a bill of materials of the platform's packages: `npm run --silent sbom`. CycloneDX, made by npm. */
const root = join(import.meta.dirname, '..');
const options = ['--omit=dev', '--package-lock-only', '--sbom-type=application', '--sbom-format=cyclonedx'];
const bom = JSON.parse(
  execFileSync('npm', ['sbom', ...options], { cwd: root, maxBuffer: 2 ** 28, encoding: 'utf8' }),
);
// npm gives the name of the folder.
bom.metadata.component.name = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).name;
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
