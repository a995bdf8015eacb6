import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAgent, newKey, ok, withPlatform } from '../contract/fixture.ts';
import { until } from '../harness/wait.ts';
import { runCommand } from './command-fixture.ts';

describe('agent-platform eval', () =>
  withPlatform('postgres', (at) => {
    let folder: string;
    let agentId: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'ap-eval-'));
      agentId = (await newAgent(at(), { name: 'Clerk' })).id;
      const grader = { name: 'answer', type: 'contains', values: ['yes'] };
      const { id } = await ok(at().api.post('/datasets', { name: 'Answers', graders: [grader] }));
      for (const text of ['yes', 'no']) {
        const input = { message: text, payload: { mock: { steps: [{ text }] } } };
        await ok(at().api.post(`/datasets/${id}/cases`, { name: `says ${text}`, input }));
      }
      const slow = await ok(at().api.post('/datasets', { name: 'Slow' }));
      for (let i = 0; i < 3; i++) {
        const input = { message: `${i}`, payload: { mock: { steps: [{ text: 'late', delay_ms: 60_000 }] } } };
        await ok(at().api.post(`/datasets/${slow.id}/cases`, { input }));
      }
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    const run = (args: readonly string[], options: Parameters<typeof runCommand>[2] = {}) =>
      runCommand(at(), ['eval', ...args], { cwd: folder, ...options });

    test('prints scores and the worst cases, and writes JUnit XML', async () => {
      const key = (await newKey(at(), 'builder')).value;
      const result = await run(['Clerk', '--dataset', 'Answers', '--trials', '2', '--junit', 'out.xml'], {
        env: { AGENT_PLATFORM_KEY: key },
      });
      expect(result.status, result.err).toBe(0);
      expect(result.out).toContain('Clerk version 1 on Answers: score 0.50, 50 % passed\n');
      expect(result.out).toMatch(/answer +0\.50 +50 % +4\n/);
      expect(result.out).toMatch(/4 trials: 4 completed\./);
      expect(result.out).toMatch(/Worst cases:\n {2}0\.00 {2}says no\n {8}answer: /);
      expect(result.err).toMatch(/4 of 4 trials\n$/);
      const xml = await readFile(join(folder, 'out.xml'), 'utf8');
      expect(xml).toContain('<testsuite name="Answers" tests="2" failures="1" errors="0"');
      expect(xml).toMatch(
        /<testcase classname="Clerk version 1" name="says no"[^>]*><failure message="answer: /,
      );
    });

    test('exits with 3 below the least score, with 4 if trials had an error, with 1 if nothing runs', async () => {
      const below = await run([agentId, '--dataset', 'Answers', '--min-score', '0.8']);
      expect(below.status).toBe(3);
      expect(below.out).toContain('The score 0.500 is below 0.8.');
      const without = await run(['Clerk', '--dataset', 'Answers', '--model', 'recorded']);
      expect(without.status, without.out).toBe(4);
      for (const [args, message] of [
        [['Clerk', '--dataset', 'None'], 'There is no dataset "None".'],
        [['Nobody', '--dataset', 'Answers'], 'There is no agent "Nobody".'],
        [['Clerk', '--dataset', 'Answers', '--version', '9'], 'version'],
        [['Clerk', '--gate'], 'gate'],
      ] as const) {
        const refused = await run(args);
        expect(refused.status, refused.err).toBe(1);
        expect(refused.err).toContain(message);
        expect(refused.out).toBe('');
      }
    });

    test('--gate says what the gate of the agent says of the draft, and publishes nothing', async () => {
      const graders = [{ type: 'contains', values: ['Fine'] }];
      const { id: dataset_id } = await ok(at().api.post('/datasets', { name: 'Gate', graders }));
      const steps = [{ tool: 'current_time' }, { text: 'Fine.' }];
      const cases = Array.from({ length: 20 }, (_, n) => {
        return JSON.stringify({
          name: `case ${n}`,
          input: { message: `Go ${n}`, payload: { mock: { steps } } },
        });
      });
      await ok(at().api.post(`/datasets/${dataset_id}/import`, { content: cases.join('\n') }));
      const fields = { name: 'Gated', release: 'manual', gate: { dataset_id, trials: 1 } };
      const { id } = await newAgent(at(), fields);
      const check = () => run(['Gated', '--gate', '--junit', 'gate.xml']);

      const nothing = await check();
      expect([nothing.status, nothing.out]).toEqual([
        0,
        'Gated version 1 is published. There is no draft to check.\n',
      ]);
      await ok(at().api.patch(`/agents/${id}`, { instructions: 'Be brief.' }));
      const passed = await check();
      expect(passed.status, passed.err).toBe(0);
      expect(passed.out).toContain('Gated version 2: Passed: 100 → 100 points\n');
      // The agent needs two steps.
      await ok(at().api.patch(`/agents/${id}`, { settings: { max_steps: 1 } }));
      const blocked = await check();
      expect(blocked.status, blocked.err).toBe(3);
      expect(blocked.out).toContain('Gated version 3: Blocked: 100 → 0 points\n');
      expect(blocked.out).toMatch(/Failing cases:\n {2}100 → 0 {2}case \d+\n/);
      const xml = await readFile(join(folder, 'gate.xml'), 'utf8');
      expect(xml).toContain('<testsuite name="Gate" tests="21" failures="21" errors="0"');
      expect(xml).toMatch(
        /name="gate" time="0.000"><failure message="Gated version 3: Blocked: 100 → 0 points/,
      );
      // The verdict is known: the same comes at once.
      expect((await check()).status).toBe(3);
      expect(await ok(at().api.get(`/agents/${id}`))).toMatchObject({ version: 1, has_changes: true });
    });

    test('SIGINT cancels the experiment', async () => {
      const interrupted = await run(['Clerk', '--dataset', 'Slow'], { interrupts: 2, printsOn: 'stderr' });
      expect(interrupted.status).toBe(1);
      expect(interrupted.err).toContain('Interrupted. The trials are cancelled.');
      const [{ id }] = (await ok(at().api.get('/experiments?limit=1'))).data;
      await until(async () => (await ok(at().api.get(`/experiments/${id}`))).state === 'cancelled');
    });
  }));
