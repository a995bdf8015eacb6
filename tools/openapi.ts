import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/config.ts';
import { silentLogger } from '../src/lib/log.ts';
import { startPlatform } from '../src/platform.ts';

/**
 * Writes openapi.json from the routes; with `--check` it only says whether the committed file is what the routes
 * give, and exits 1 where it is stale.
 */
const file = new URL('../openapi.json', import.meta.url);
const dataDir = mkdtempSync(join(tmpdir(), 'agent-platform-openapi-'));
const platform = await startPlatform(readConfig({ PORT: '0', DATA_DIR: dataDir }), { log: silentLogger });
const document = { ...platform.openapi(), servers: [{ url: 'https://deployment.example/api/v2' }] };
await platform.stop();
rmSync(dataDir, { recursive: true, force: true });

const text = `${JSON.stringify(document, null, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error('openapi.json is stale: run `npm run openapi` and commit it.');
  process.exit(1);
}
process.exit(0);
