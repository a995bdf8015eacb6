import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withDatabase } from '../../tests/harness/database.ts';
import { call, secret, useToolAttempts } from '../../tests/harness/tool-attempt.ts';

const program = join(import.meta.dirname, '../../tests/harness/tool-server-process.ts');

withDatabase('embedded', (open) => {
  const { create, folder, http, logged, openTools } = useToolAttempts(open);

  describe('a local process', () => {
    const process_ = (mode: string, pidFile?: string) => ({
      transport: 'stdio',
      command: process.execPath,
      args: [program, mode, ...(pidFile === undefined ? [] : [pidFile])],
      env: { SECRET_TOKEN: secret },
    });
    const isAlive = (pid: number): boolean => {
      try {
        process.kill(pid, 0);
        return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
      } catch {
        return false;
      }
    };

    test('gets PATH, HOME and its own variables only, and its stderr is logged without secrets', async () => {
      const { id, state, env_names } = await create(process_('modern'));
      expect([state, env_names]).toEqual(['ok', ['SECRET_TOKEN']]);
      const tools = await openTools([id]);
      const { text } = await call(tools, 'environment');
      const { PWD, ...environment } = JSON.parse(text);
      expect(environment).toEqual({
        PATH: process.env.PATH,
        HOME: expect.stringContaining(folder()),
        SECRET_TOKEN: '[redacted]',
      });
      expect(PWD).toBe(environment.HOME);
      await call(tools, 'grumble');
      await expect.poll(() => logged.join().length).toBeGreaterThan(60_000);
      expect(logged.join().length).toBeLessThan(100_000);
      expect(logged.join()).toContain('started as modern with [redacted]');
    });

    test('is one for the attempt, and ends with all that it started', async () => {
      const pidFile = join(folder(), 'pids.json');
      const { id } = await create(process_('stubborn', pidFile));
      const tools = await openTools([id]);
      const pid = Number((await call(tools, 'pid')).text);
      expect((await call(tools, 'pid')).text).toBe(String(pid));
      const pids: number[] = JSON.parse(readFileSync(pidFile, 'utf8'));
      expect(pids[0]).toBe(pid);
      expect(pids.map(isAlive)).toEqual([true, true]);
      await tools[Symbol.asyncDispose]();
      expect(pids.map(isAlive)).toEqual([false, false]);
    });

    test.each(['legacy', 'mute'])('of the older protocol works (%s)', async (mode) => {
      const { id, protocol_version } = await create(process_(mode));
      expect(protocol_version).toBe('2025-11-25');
      expect((await call(await openTools([id]), 'pid')).isError).toBe(false);
    });

    test('that ends during a call has no answer; the next call starts another one', async () => {
      const { id } = await create(process_('modern'));
      const tools = await openTools([id]);
      const before = (await call(tools, 'pid')).text;
      expect(await call(tools, 'exit')).toMatchObject({ outcomeUnknown: true });
      const after = await call(tools, 'pid');
      expect([after.isError, after.text === before]).toEqual([false, false]);
      expect(await call(tools, 'exit_idempotent')).toEqual({ text: expect.any(String), isError: true });
    });

    test('that cannot be started is not available', async () => {
      const created = await create({ transport: 'stdio', command: 'no-such-command-here' });
      expect(created).toMatchObject({ state: 'failing', last_error: expect.stringContaining('ENOENT') });
      await expect(openTools([created.id])).rejects.toMatchObject({ code: 'tool_server_unavailable' });
      const { steps } = (await http().post(`/tool-servers/${created.id}/test`)).body;
      expect(steps.map((step: { step: string; ok: boolean }) => `${step.step} ${step.ok}`)).toEqual([
        'resolve true',
        'connect false',
      ]);
    });

    test('needs its variables again for another command, and its tools be accepted again', async () => {
      const { id } = await create(process_('modern'));
      const path = `/tool-servers/${id}`;
      const refused = await http().patch(path, { command: 'node' });
      expect(refused.body.error.details[0].path).toBe('env');
      const moved = await http().patch(path, { command: 'node', env: null });
      expect(moved.body).toMatchObject({ command: 'node', env_names: [], changed_count: 5 });
      for (const fields of [
        { command: '' },
        { args: 'x' },
        { args: Array(51).fill('x') },
        { env: { 'a b': 'x' } },
      ]) {
        expect((await http().post('/tool-servers', { name: 'x', ...process_('x'), ...fields })).status).toBe(
          422,
        );
      }
      expect((await http().post('/tool-servers', { name: 'x', transport: 'stdio' })).status).toBe(400);
    });
  });
});
