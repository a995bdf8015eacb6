import { describe, expect, test } from 'vitest';
import { ok, withPlatform } from '../contract/fixture.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { clearOfNext, until } from '../harness/wait.ts';
import { runCommand } from './command-fixture.ts';

describe('agent-platform load-test', () =>
  withPlatform('postgres', (at) => {
    const run = (...args: string[]) => runCommand(at(), ['load-test', ...args]);
    const agents = async () => (await ok(at().api.get('/agents'))).data;
    /** The line of the table that begins with `what`, as its cells. */
    const line = (out: string, what: string) =>
      out
        .split('\n')
        .find((one) => one.startsWith(what))
        ?.slice(what.length)
        .trim()
        .split(/ {2,}/);

    test('measures every kind of work, and deletes what it created', async () => {
      // Its schedules fire in each minute: no other one begins while it counts.
      await clearOfNext(60_000, 20_000);
      const running = run('--seconds', '2', '--schedules', '2', '--work-items', '5', '--reads', '10');
      // A minute rarely begins within two seconds: the schedules are made due.
      await until(async () => {
        await at()
          .sql`update schedules set next_run_at = date_trunc('minute', platform_now()) where last_run_at is null`;
        await at().sql`select pg_notify('schedules', '')`;
        return (await at().sql`select 1 from schedules where last_run_at is not null`).length === 2;
      }, 30_000);
      const { status, out, err } = await running;
      expect(err).toBe('');
      const [fired = '', skipped] = line(out, 'firings: late by') ?? [];
      expect([Number(fired) % 2, skipped], out).toEqual([0, '0']);
      expect(Number(fired)).toBeGreaterThan(0);
      expect(line(out, 'create a Work Item')?.slice(0, 2)).toEqual(['10', '0']);
      expect(line(out, 'get a Work Item')?.slice(0, 2)).toEqual(['10', '0']);
      expect(line(out, 'list 50 Work Items')?.slice(0, 2)).toEqual(['10', '0']);
      expect(line(out, 'Work Items: PENDING to COMPLETED')?.slice(0, 2)).toEqual([
        String(10 + Number(fired)),
        '0',
      ]);
      expect(line(out, 'spans acknowledged')?.slice(0, 2)).toEqual(['1000', '0']);
      expect(out).toMatch(/Deleted its 2 agents and 2 schedules/);
      expect(status, out).toBe(0);
      expect(await agents()).toEqual([]);
    });

    test('refuses to run next to others, and cleans up after an earlier one', async () => {
      await using backend = await startOtlpReceiver();
      const settings = { provider: 'otlp_custom_headers', url: backend.url };
      const integration = await ok(
        at().api.post('/observability/integrations', { version: '1', settings }),
        201,
      );
      const agent = await ok(at().api.post('/agents', { name: 'Clerk', mode: 'worker' }));
      const schedule = { cron_expression: '0 0 1 1 *', message: 'A year has begun.' };
      await ok(at().api.post(`/agents/${agent.id}/schedules`, schedule));
      const refused = await run('--seconds', '1');
      expect(refused).toMatchObject({ status: 1, out: '' });
      expect(refused.err).toMatch(/in use.*schedules.*1 integrations.*--yes/);
      expect(await agents()).toHaveLength(1);

      const forced = await run('--yes', '--seconds', '1', '--schedules', '0', '--spans', '0', '--reads', '0');
      expect([forced.status, forced.err], forced.out).toEqual([0, '']);
      expect(line(forced.out, 'firings: late by')?.slice(0, 3)).toEqual(['0', '0', '–']);

      await ok(at().api.post('/agents', { name: 'agent-platform load test: left', mode: 'worker' }));
      expect((await run('--clean')).out).toBe('Deleted 1 agents of earlier load tests.\n');
      expect((await agents()).map(({ name }: { name: string }) => name)).toEqual(['Clerk']);
      await ok(at().api.delete(`/agents/${agent.id}`), 204);
      await ok(at().api.delete(`/observability/integrations/${integration.id}`), 204);
    });

    test('deletes what it created when Ctrl-C ends it, which npx sends twice', async () => {
      const { status, out, err } = await runCommand(
        at(),
        ['load-test', '--seconds', '60', '--schedules', '1', '--spans', '0'],
        { interrupts: 5 },
      );
      expect([status, err], out).toEqual([1, '']);
      expect(out).toMatch(/Deleted its 2 agents and 1 schedules/);
      expect(await agents()).toEqual([]);
    });

    test('says what is wrong, and that something failed', async () => {
      expect((await run('--help')).out).toContain('--work-items N');
      for (const wrong of ['-1', '1.5', '501', 'x'])
        expect((await run(`--work-items=${wrong}`)).err).toMatch(/^--work-items must be a whole number/);
      const secret = await run('--key', '', 'ap_secret');
      expect(secret.err).toMatch(/an argument too many/);
      expect(secret.err).not.toContain('ap_secret');
      await ok(
        at().api.patch('/advanced-settings', { RATE_LIMIT_REQUESTS_PER_SECOND: 5, RATE_LIMIT_BURST: 15 }),
      );
      const { status, out } = await run(
        '--seconds',
        '1',
        '--schedules',
        '0',
        '--reads',
        '200',
        '--spans',
        '0',
      );
      expect(status).toBe(1);
      expect(out).toMatch(/The first failure: /);
      // The limit is that of the key: it has used it up.
      const unlimited = { RATE_LIMIT_REQUESTS_PER_SECOND: 0 };
      await until(async () => (await at().api.patch('/advanced-settings', unlimited)).status === 200);
      expect(await agents()).toEqual([]);
    });
  }));
