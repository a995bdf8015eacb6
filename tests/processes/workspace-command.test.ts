import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAgent, withPlatform } from '../contract/fixture.ts';
import {
  apply,
  everything,
  exported,
  exportedSecrets,
  prepare,
  secret,
  secrets,
} from '../contract/workspace-fixture.ts';
import { adminKey } from '../harness/process.ts';
import { type CommandResult, runCommand } from './command-fixture.ts';

describe('the command agent-platform', () =>
  withPlatform('postgres', (at) => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'ap-command-'));
      prepare(at());
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    const run = async (
      args: readonly string[],
      options: { env?: Record<string, string>; input?: string } = {},
    ): Promise<CommandResult> => {
      const result = await runCommand(at(), args, { ...options, cwd: folder });
      for (const value of [...Object.values(secrets), adminKey])
        expect(result.out + result.err).not.toContain(value);
      return result;
    };

    const given = Object.entries(secrets).flatMap(([name, value]) => ['--secret', `${name}=${value}`]);

    test('plans the example of the documentation', async () => {
      const guide = await readFile(new URL('../../docs/workspace.md', import.meta.url), 'utf8');
      const example = /```yaml\n(version: 1\n.*?)```/s.exec(guide)![1]!;
      const planned = await run(['plan', '-f', '-'], { input: example });
      expect(planned.status, planned.err).toBe(2);
      expect(planned.out).toContain('Night clerk/nightly');
    });

    test('plans with 2, applies what it showed, then plans with 0, and exports what can be applied', async () => {
      const document = JSON.stringify(everything());
      await writeFile(join(folder, 'workspace.json'), document);
      const planned = await run(['plan', '-f', 'workspace.json']);
      expect(planned.status, planned.err).toBe(2);
      expect(planned.out).toContain('  + agent "Night clerk"\n      name: "Night clerk"\n');
      expect(planned.out).toContain(`      api_key: ${secret('HOUSE_MODEL_KEY')}\n`);
      expect(planned.out).toContain('  ~ settings\n      MAX_SCHEDULES_PER_AGENT: 20 → 30\n');
      expect(planned.out).toContain('Plan: 30 to create, 3 to update, 0 to delete, 0 unchanged.\n');
      expect(planned.out).toContain('--secrets-from-env): HOUSE_MODEL_KEY, TOOLS_KEY, TRACES.\n');

      const missing = await run(['apply', '-f', 'workspace.json']);
      expect(missing.status).toBe(1);
      expect(missing.err).toContain(
        '  llm_configurations[0].api_key: the secret HOUSE_MODEL_KEY is missing; send it in `secrets`\n',
      );
      const applied = await run(['apply', '-f', '-', ...given.slice(2), '--secrets-from-env'], {
        input: document,
        env: { HOUSE_MODEL_KEY: secrets.HOUSE_MODEL_KEY, TRACES: 'another' },
      });
      expect(applied.status, applied.err).toBe(0);
      expect(applied.out).toMatch(/Applied: 33 changes\.\n$/);
      const again = await run(['apply', '-f', 'workspace.json']);
      expect([again.status, again.out]).toEqual([
        0,
        'Nothing to change: 0 to create, 0 to update, 0 to delete, 33 unchanged.\n',
      ]);

      expect((await run(['export', '-f', 'exported.yaml'])).status).toBe(0);
      const yaml = await readFile(join(folder, 'exported.yaml'), 'utf8');
      expect(yaml).toBe(await exported(at()));
      expect((await run(['export'])).out).toBe(yaml);
      const self = await run(['plan', '-f', 'exported.yaml', '--prune', '--secrets-from-env'], {
        env: exportedSecrets(yaml),
      });
      // The signing secret of the callback was generated, so the one that is given is another.
      expect([self.status, self.out]).toEqual([
        2,
        expect.stringContaining('callbacks[0].secret: (secret) → ${secret:'),
      ]);
      expect((await run(['plan', '-f', 'exported.yaml', '--prune'])).status).toBe(0);
      await run(['export', '-f', 'exported.json']);
      expect(JSON.parse(await readFile(join(folder, 'exported.json'), 'utf8'))).toMatchObject({ version: 1 });
    });

    test('deletes with --prune, and shows it', async () => {
      await apply(at(), { version: 1, role_mappings: [{ claim: 'groups', value: 'old', role: 'member' }] });
      const document = 'version: 1\nrole_mappings: []\n';
      expect((await run(['plan', '-f', '-'], { input: document })).status).toBe(0);
      const planned = await run(['plan', '-f', '-', '--prune'], { input: document });
      expect([planned.status, planned.out]).toEqual([
        2,
        expect.stringContaining('  - role_mapping "groups=old"\n'),
      ]);
    });

    test('ends with 1, and says what is wrong and where', async () => {
      const faulty = await run(['plan', '-f', '-'], {
        input:
          'version: 1\nagents: [{ name: A, mode: worker, schedules: [{ key: k, cron_expression: x }] }]\n',
      });
      expect(faulty.status).toBe(1);
      expect(faulty.err).toMatch(
        /^Error: The document has faults:\n {2}agents\[0\]\.schedules\[0\]\.cron_expression: /,
      );
      const cases: [string[], RegExp][] = [
        [['plan', '-f', 'none.yaml', 'secret-of-the-ledger'], /^There is an argument too many.*\n\nUsage: /],
        [['plan', '-f', 'none.yaml'], /^Error: none\.yaml cannot be read \(ENOENT\)/],
        [['export', '--url', 'http://127.0.0.1:2'], /^Error: No connection to http:\/\/127\.0\.0\.1:2/],
        [['export', '--key', 'nonsense'], /^Error: The API key is not accepted/],
      ];
      for (const [args, message] of cases) {
        const { status, err } = await run(args);
        expect([status, err], args.join(' ')).toEqual([1, expect.stringMatching(message)]);
      }
      const name = 'a\u001b[2J\u009b31m\u202e';
      for (let n = 0; n < 2; n++) await newAgent(at(), { name });
      const { err } = await run(['plan', '-f', '-'], { input: 'version: 1\nagents: []\n' });
      expect(err).toContain('a\\u001b[2J\\u009b31m\\u202e');
      expect(err).not.toMatch(/[\u001b\u009b\u202e]/);
      expect(await run(['--help'])).toMatchObject({ status: 0, out: expect.stringContaining('Usage: ') });
    });
  }));
