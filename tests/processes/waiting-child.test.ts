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
  'a process that waits for a query serves one frame, and ends when it is killed, with the frame, and with the platform',
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

    const sum = async () =>
      (await api.post(`${path}/data-frames/query`, { sql: 'select sum(n) as s from n' })).body.rows;
    const pids = () =>
      childrenOf(platform.dataDir)
        .map(({ pid }) => pid)
        .sort((a, b) => a - b);
    /** The processes, when they have been these many for longer than one takes to be gone. */
    const settled = async (count: number) => {
      let [seen, since] = [pids(), performance.now()];
      await until(() => {
        const now = pids();
        if (now.join() !== seen.join()) [seen, since] = [now, performance.now()];
        return seen.length === count && performance.now() - since > 500;
      });
      return seen;
    };
    const [first] = await settled(1);
    const { command } = childrenOf(platform.dataDir)[0]!;
    const build = isProgramCurrent(join(import.meta.dirname, '..', '..')) ? 'dist/jobs/main.js' : 'main.ts';
    expect(command).toContain(build);
    // No environment: neither the key nor the address of a database.
    expect(readFileSync(`/proc/${first}/environ`, 'utf8')).toBe('');

    // It stays for the frame that it has read, and another waits for all others.
    expect(await sum()).toEqual([[3]]);
    const both = await settled(2);
    expect(both).toContain(first);
    const [second] = both.filter((pid) => pid !== first);
    expect(await Promise.all([sum(), sum()])).toEqual([[[3]], [[3]]]);
    expect(await settled(2)).toEqual(both);

    process.kill(first!, 'SIGKILL');
    expect(await sum()).toEqual([[3]]);
    const third = (await settled(2)).filter((pid) => pid !== second);
    expect(third).not.toContain(first);

    expect((await api.delete(`${path}/data-frames/n`)).status).toBe(204);
    expect(await settled(1)).toEqual(third);

    await platform.kill('SIGKILL');
    await until(() => pids().length === 0);
  },
);
