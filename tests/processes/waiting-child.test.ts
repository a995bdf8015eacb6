import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isProgramCurrent } from '../../src/program.ts';
import { form } from '../harness/form.ts';
import { client } from '../harness/http.ts';
import { spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';

/** The children of the sandbox of a platform, by the folder that they were given, with what they run. */
const childrenOf = (dataDir: string): { pid: number; command: string }[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        const isChild = command.includes(`--allow-fs-write=${join(dataDir, 'sandbox')}`);
        return isChild ? [{ pid: Number(name), command }] : [];
      } catch {
        return [];
      }
    })
    .filter(({ command }) => !command.startsWith('/bin/sh'));

test.skipIf(process.platform !== 'linux')(
  'a process that waits for a query serves one, is replaced when it is killed, and ends with the platform',
  async () => {
    await using platform = await spawnPlatform({ env: { LOG_LEVEL: 'error' } });
    const api = client(`${platform.url}/api/v2`, platform.key);
    const agent = (await api.post('/agents', { name: 'Analyst', mode: 'conversational' })).body;
    const conversation = (await api.post(`/agents/${agent.id}/conversations`, {})).body;
    const path = `/agents/${agent.id}/conversations/${conversation.id}`;
    const sent = form([{ name: 'file', filename: 'n.csv', content: 'n\n1\n2\n' }]);
    const file = (await api.raw('POST', `${path}/files`, sent.body, { headers: sent.headers })).body;
    expect(childrenOf(platform.dataDir)).toEqual([]);
    const source = { kind: 'file', file_id: file.id };
    expect((await api.post(`${path}/data-frames`, { name: 'n', source })).status).toBe(200);

    const sums = async (times: number) =>
      Promise.all(
        Array.from({ length: times }, async () => {
          const { body } = await api.post(`${path}/data-frames/query`, { sql: 'select sum(n) as s from n' });
          return body.rows;
        }),
      );
    /** The one that waits: alone, and for longer than a process takes to be gone. */
    const waiting = async () => {
      let [alone, since] = [childrenOf(platform.dataDir)[0], performance.now()];
      await until(() => {
        const [one, ...more] = childrenOf(platform.dataDir);
        if (one === undefined || more.length > 0 || one.pid !== alone?.pid) {
          [alone, since] = [more.length > 0 ? undefined : one, performance.now()];
        }
        return alone !== undefined && performance.now() - since > 500;
      });
      return alone!;
    };
    const first = await waiting();
    const build = isProgramCurrent(join(import.meta.dirname, '..', '..')) ? 'dist/jobs/main.js' : 'main.ts';
    expect(first.command).toContain(build);
    // No environment: neither the key nor the address of a database.
    expect(readFileSync(`/proc/${first.pid}/environ`, 'utf8')).toBe('');

    expect(await sums(1)).toEqual([[[3]]]);
    const second = await waiting();
    expect(second.pid).not.toBe(first.pid);

    process.kill(second.pid, 'SIGKILL');
    await until(() => childrenOf(platform.dataDir).length === 0);
    expect(await sums(2)).toEqual([[[3]], [[3]]]);

    const last = await waiting();
    await platform.kill('SIGKILL');
    await until(() => childrenOf(platform.dataDir).length === 0);
    expect(last.pid).not.toBe(second.pid);
  },
);
