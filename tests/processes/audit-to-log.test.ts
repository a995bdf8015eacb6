import { expect, test } from 'vitest';
import { createMigrated } from '../harness/database.ts';
import { client } from '../harness/http.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { adminKey, type PlatformProcess, spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';

interface Line {
  audit: true;
  position: number;
  hash: string;
  action: string;
}

/** The lines of the audit log in an output. The last line of a killed process may be torn. */
const linesOf = (output: string): Line[] =>
  output.split('\n').flatMap((line) => {
    if (!line.startsWith('{"audit":true')) return [];
    try {
      return [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });

const env = { AUDIT_TO_LOG: 'true' };

const kills = Number(process.env.FAULT_AUDIT_KILLS ?? 1);

test('two replicas that are killed again and again copy every entry to their standard output', async () => {
  const databaseUrl = await createMigrated();
  const started: PlatformProcess[] = [];
  const start = async () => {
    const platform = await spawnPlatform({ databaseUrl, env });
    started.push(platform);
    return platform;
  };
  try {
    let [a, b] = await Promise.all([start(), start()]);
    const make = async (count: number) => {
      await Promise.allSettled(
        Array.from({ length: count }, (_, n) =>
          client(`${[a, b][n % 2]!.url}/api/v2`, adminKey).post('/agents', { name: 'made', mode: 'worker' }),
        ),
      );
    };
    for (let kill = 0; kill < kills; kill++) {
      const busy = make(100);
      // In the middle of the requests, and of what the chain and the copy do with them.
      await until(() => linesOf(started.at(-2)!.output() + started.at(-1)!.output()).length > 0);
      await a.kill('SIGKILL');
      await busy;
      [a, b] = [b, await start()];
    }
    await make(10);
    const api = client(`${b.url}/api/v2`, adminKey);
    await until(async () => (await api.get('/audits/verify')).body.unchained === 0);
    const exported = (await api.get('/audits/export')).text.trimEnd().split('\n').slice(0, -1);
    const hashes = new Map(exported.map((line) => JSON.parse(line) as Line).map((e) => [e.position, e.hash]));
    const seen = () => new Map(started.flatMap((p) => linesOf(p.output())).map((l) => [l.position, l.hash]));
    await until(() => [...hashes.keys()].every((position) => seen().has(position)), 20_000);
    for (const [position, hash] of hashes) expect(seen().get(position)).toBe(hash);
    expect(hashes.size).toBeGreaterThan(50 * kills);
  } finally {
    await Promise.all(started.map((platform) => platform.stop()));
    await dropDatabase(databaseUrl);
  }
}, 400_000);

test('without AUDIT_TO_LOG no entry is a line; with it each is one, whatever LOG_LEVEL is', async () => {
  const databaseUrl = await createMigrated();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => dropDatabase(databaseUrl));
  for (const [more, copied] of [
    [{}, false],
    [{ ...env, LOG_LEVEL: 'silent' }, true],
  ] as const) {
    await using platform = await spawnPlatform({ databaseUrl, env: more });
    const api = client(`${platform.url}/api/v2`, adminKey);
    await api.post('/agents', { name: 'one', mode: 'worker' });
    const { last_position } = await until(async () => {
      const { body } = await api.get('/audits/verify');
      return body.unchained === 0 && body;
    });
    // What was written before the copy was switched on is copied too.
    await until(() => linesOf(platform.output()).length === (copied ? last_position : 0));
    expect(linesOf(platform.output()).some(({ action }) => action === 'agent.create')).toBe(copied);
    expect(platform.output()).not.toContain(adminKey);
  }
}, 400_000);
