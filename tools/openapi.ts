import { readFileSync, writeFileSync } from 'node:fs';
import { readConfig } from '../src/config.ts';
import { createFeatures } from '../src/features.ts';
import { describeApi, permissionsOf } from '../src/http/index.ts';
import { version } from '../src/lib/version.ts';
import { offlineServices } from '../src/services.ts';

/**
 * Writes what the routes declare: openapi.json (the public API), openapi-app.json (the operations of the application),
 * and permissions.md with the role and scope of every operation. With `--check` it writes nothing, and exits with 1 if
 * a committed file differs from what the routes declare. It needs no database.
 */
const groups = createFeatures(offlineServices(readConfig({}))).list;
const documentOf = (base: '/api/v2' | '/app/api'): string => {
  const { value } = describeApi({ base, groups, publicUrl: 'https://deployment.example', version });
  return `${JSON.stringify(value, null, 2)}\n`;
};

const table = permissionsOf(groups)
  .map(({ id, role, scope, method, path }) => `| ${id} | ${role} | ${scope ?? ''} | ${method} ${path} |`)
  .join('\n');

const files = {
  'openapi.json': documentOf('/api/v2'),
  'openapi-app.json': documentOf('/app/api'),
  'permissions.md': `# Permissions

The lowest role that may call each operation, and the scope that a key with scopes needs for it, generated from the routes by \`npm run openapi\`. \`builder\` may do all that \`member\` may, and \`admin\` may do everything; the scope \`x\` contains \`x:read\`. \`anyone\` needs no key.

| operation | role | scope | request |
|---|---|---|---|
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
