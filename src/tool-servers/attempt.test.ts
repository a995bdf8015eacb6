import { describe, expect, test } from 'vitest';
import { onPostgres } from '../../tests/harness/database.ts';
import { useToolAttempts } from '../../tests/harness/tool-attempt.ts';
import { ToolServerError } from './index.ts';

onPostgres((_name, open) => {
  const { age, clock, create, http, openTools, setUp, start, stopLast } = useToolAttempts(open);

  describe('the tools of an attempt', () => {
    test('are those that are accepted and not denied, sorted by name, with the policy that counts', async () => {
      const server = await start({ tools: [{ name: 'b' }, { name: 'a' }, { name: 'never' }, { name: 'd' }] });
      const { id } = await create({ url: server.url, default_policy: 'require_approval' });
      await http().patch(`/tool-servers/${id}/tools/never`, { policy: 'deny' });
      await http().patch(`/tool-servers/${id}/tools/b`, { policy: 'allow' });
      const of = async (policies: object[]) =>
        (await openTools([id], policies)).tools.map(
          (tool) => `${tool.toolName.split('__')[1]} ${tool.policy}`,
        );
      expect(await of([])).toEqual(['a require_approval', 'b allow', 'd require_approval']);
      expect(
        await of([
          { tool_server_id: id, tool: 'never', policy: 'allow' },
          { tool_server_id: id, tool: 'b', policy: 'deny' },
          { tool_server_id: id, tool: 'a', policy: 'allow' },
        ]),
      ).toEqual(['a allow', 'd require_approval']);
      await http().patch(`/tool-servers/${id}`, { default_policy: 'deny' });
      expect(await of([{ tool_server_id: id, tool: 'd', policy: 'allow' }])).toEqual(['b allow', 'd allow']);
      await http().patch(`/tool-servers/${id}`, { enabled: false });
      expect(await of([])).toEqual([]);
    });

    test('are discovered again only if that was more than 60 s ago; changed ones are then not offered', async () => {
      const { server, id } = await setUp([{ name: 'a' }, { name: 'b' }]);
      expect(server.count('tools/list')).toBe(1);
      server.tools[0]!.description = 'other';
      expect((await openTools([id])).tools).toHaveLength(2);
      await age();
      expect((await openTools([id])).tools.map(({ toolName }) => toolName.split('__')[1])).toEqual(['b']);
      expect(server.count('tools/list')).toBe(2);
    });

    test('cannot be had if a server is unreachable or refuses access', async () => {
      const server = await start();
      const { id } = await create({ url: server.url, name: 'Bank' });
      const failure = async () => {
        await age();
        const error = await openTools([id]).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(ToolServerError);
        const { code, retryable, message } = error as ToolServerError;
        expect(message).toContain('"Bank"');
        return `${code} ${retryable}`;
      };
      server.status = 401;
      expect(await failure()).toBe('tool_server_unauthorized false');
      server.status = 403;
      expect(await failure()).toBe('tool_server_unauthorized false');
      server.status = 503;
      expect(await failure()).toBe('tool_server_unavailable true');
      await stopLast();
      expect(await failure()).toBe('tool_server_unavailable true');
      const shown = (await http().get(`/tool-servers/${id}`)).body;
      expect(shown).toMatchObject({ state: 'failing', last_error: expect.stringContaining('ECONNREFUSED') });
      // The last success counts, not the last discovery.
      expect(await failure()).toBe('tool_server_unavailable true');
    });

    test('are not waited for when the attempt ends', async () => {
      const server = await start();
      const { id } = await create({ url: server.url });
      await age();
      server.gate = new Promise(() => {});
      const ending = new AbortController();
      const opening = openTools([id], [], ending.signal);
      await expect.poll(() => server.requests.length).toBeGreaterThan(2);
      ending.abort(new Error('cancelled'));
      await expect(opening).rejects.toThrow('cancelled');
    });

    test('are asked for in the protocol that was negotiated within the last hour', async () => {
      const { server, id } = await setUp([{ name: 'a' }], {}, { era: 'legacy' });
      expect([server.count('server/discover'), server.count('initialize')]).toEqual([1, 1]);
      await age();
      await openTools([id]);
      expect([server.count('server/discover'), server.count('initialize')]).toEqual([1, 2]);
      clock.advance(3_600_001);
      await age();
      await openTools([id]);
      expect([server.count('server/discover'), server.count('initialize')]).toEqual([2, 3]);
    });
  });
});
