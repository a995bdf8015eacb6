import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createProtocolHandler } from '../../src/tool-protocol/handler.ts';
import { toolProtocolRoutes } from '../../src/tool-protocol/routes.ts';
import { serveRoutes, tester } from '../harness/api.ts';
import { startBearerProxy } from '../harness/bearer-proxy.ts';
import { openMigrated } from '../harness/database.ts';
import { startTestPlatform } from '../harness/platform.ts';
import { adminKey } from '../harness/process.ts';
import { testServices } from '../harness/services.ts';
import { newSuiteServer } from '../harness/suite-server.ts';
import { revisions } from '../harness/tool-protocol.ts';
import { makeAgent } from '../harness/work-items.ts';

const runner = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);

/**
 * Runs all that a revision requires against `endpoint`. Resolves to the names of the scenarios that pass with at least
 * one check, and of those that fail. Extensions are left out.
 */
const run = async (endpoint: string, key: string, revision: string) => {
  await using proxy = await startBearerProxy(endpoint, key);
  const args = [runner, 'server', '--url', proxy.url, '--requirements', revision];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    timeout: 60_000,
    maxBuffer: 100 * 1024 * 1024,
  }).catch((failure: { stdout: string }) => failure);
  if (process.env.SUITE_OUTPUT) console.log(stdout);
  const results = [...stdout.matchAll(/^(?:✓|✗) ([\w-]+): (\d+) passed, (\d+) failed$/gm)]
    .map(([, name, passed, failed]) => ({ name: name!, passed: Number(passed), failed: Number(failed) }))
    .filter(({ name, passed, failed }) => !name.startsWith('tasks-') && passed + failed > 0);
  return {
    passed: results.filter(({ failed }) => failed === 0).map(({ name }) => name),
    failed: results.filter(({ failed }) => failed > 0).map(({ name }) => name),
  };
};

/** What needs requests from the server to the client, and so a session. */
const needSessions = [
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
];

/** Features of a server that the fixture does not have: a schema with all keywords, and arguments in headers. */
const notScored = ['json-schema-2020-12', 'http-custom-header-server-validation'];

describe.skipIf(!existsSync(runner))('the official conformance suite', () => {
  test.each([
    // One more is required, server-sse-multiple-streams, which checks nothing without sessions.
    [revisions.legacy, 25, [...needSessions, notScored[0]]],
    [revisions.modern, 37, notScored],
  ])(
    'passes for a server of everything behind the endpoint (%s)',
    { timeout: 90_000 },
    async (revision, least, failing) => {
      await using db = await openMigrated('embedded');
      const agent = await makeAgent(db);
      const routes = toolProtocolRoutes(testServices(db), createProtocolHandler(newSuiteServer));
      const served = await serveRoutes(db, { routes });
      try {
        const endpoint = `${served.origin}/api/v1/agents/${agent}/mcp`;
        const { passed, failed } = await run(endpoint, tester.id, revision);
        expect(failed.sort()).toEqual([...failing].sort());
        expect(passed.length).toBeGreaterThanOrEqual(least);
      } finally {
        await served.close();
      }
    },
  );

  test('passes for an agent in what concerns servers with tools alone', { timeout: 90_000 }, async () => {
    await using platform = await startTestPlatform();
    const { id } = (await platform.api.post('/agents', { name: 'a', mode: 'worker' })).body;
    const endpoint = `${platform.origin}/api/v1/agents/${id}/mcp`;
    const legacy = await run(endpoint, adminKey, revisions.legacy);
    expect(legacy.passed).toEqual(['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']);
    const modern = await run(endpoint, adminKey, revisions.modern);
    expect(modern.passed).toEqual([
      'tools-list',
      'server-sse-multiple-streams',
      'sep-2164-resource-not-found',
      'dns-rebinding-protection',
      'input-required-result-missing-input-response',
      'input-required-result-unsupported-methods',
      'input-required-result-ignore-extra-params',
      'input-required-result-validate-input',
      'http-header-validation',
    ]);
  });
});
