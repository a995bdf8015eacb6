import { readFileSync, writeFileSync } from 'node:fs';
import { readConfig } from '../src/config.ts';
import { createFeatures } from '../src/features.ts';
import { describeApi, permissionsOf } from '../src/http/index.ts';
import { offlineServices } from '../src/services.ts';
import { version } from '../src/version.ts';

/**
 * Writes what the routes declare: openapi.json, and permissions.md with the role of every operation. With `--check` it
 * writes nothing, and exits with 1 if a committed file differs from what the routes declare. It needs no database.
 */
const groups = createFeatures(offlineServices(readConfig({}))).list;
const { value } = describeApi({ base: '/api/v2', groups, publicUrl: '', version });
const document = { ...value, servers: [{ url: 'https://deployment.example/api/v2' }] };

const table = permissionsOf(groups)
  .map(({ id, role, method, path }) => `| ${id} | ${role} | ${method} ${path} |`)
  .join('\n');

const files = {
  'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
  'permissions.md': `# Permissions

The lowest role that may call each operation, generated from the routes by \`npm run openapi\`. \`builder\` may do all that \`member\` may, and \`admin\` may do everything.

| operation | role | request |
|---|---|---|
${table}
`,
};

for (const [name, text] of Object.entries(files)) {
  const file = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${name} is stale: run \`npm run openapi\` and commit it.`);
    process.exitCode = 1;
  }
}
