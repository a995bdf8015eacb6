import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const runner = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const client = join(root, 'tests/harness/conformance-client.ts');

/**
 * Scenarios of the official suite of the Model Context Protocol: those for which our own fetch and our own tokens could
 * break what the client library does. Each takes seconds to start.
 */
const scenarios = [
  'request-metadata',
  'http-invalid-tool-headers',
  'sse-retry',
  'auth/client-credentials-basic',
];

describe.skipIf(!existsSync(runner))('the client of tool servers conforms to the protocol', () => {
  test.each(scenarios)(
    '%s',
    async (scenario) => {
      const command = `${process.execPath} ${client}`;
      const args = [runner, 'client', '--command', command, '--scenario', scenario];
      const run = await promisify(execFile)(process.execPath, args, { cwd: root, timeout: 60_000 }).catch(
        (failure: { stdout: string; stderr: string }) => failure,
      );
      expect(`${run.stdout}${run.stderr}`).toMatch(/Passed: (\d+)\/\1, 0 failed/);
    },
    60_000,
  );
});
