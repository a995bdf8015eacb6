import { readFileSync } from 'node:fs';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseNatsAddress } from '@agent-platform/otlp/jetstream';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { execute, query, startPostgres } from '../harness/postgres.ts';
import { findProgram, whySkipped } from '../harness/programs.ts';
import { newServer } from '../harness/server.ts';
import { until } from '../harness/wait.ts';
import { freePort } from '../harness/watchdog.ts';

const file = (name: string): string => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');
const { services, configs } = parse(file('compose.ha.yaml'), { merge: true });
const haproxy = findProgram('haproxy');

test('the three replicas of compose.ha.yaml are equal, and know the three servers of the telemetry log', () => {
  const [one, two, three] = ['platform-1', 'platform-2', 'platform-3'].map((name) => services[name]);
  expect(two).toEqual(one);
  expect(three).toEqual(one);
  const { servers } = parseNatsAddress(one.environment.TELEMETRY_LOG_URL)!;
  expect(servers).toEqual(['nats-1:4222', 'nats-2:4222', 'nats-3:4222']);
  for (const server of servers) expect(services).toHaveProperty(server.split(':')[0]!);
});

test('docs/high-availability.md names only services that compose.ha.yaml has', () => {
  const named = file('docs/high-availability.md').match(/\b(postgres|nats|platform)-\d\b/g)!;
  expect(named.length).toBeGreaterThan(10);
  for (const name of named) expect(services).toHaveProperty(name);
});

/** A configuration of compose.ha.yaml, with these instead of its addresses, and without Docker's names. */
const onThisMachine = (text: string, changes: Record<string, string>): string => {
  let changed = text
    .replace(/^resolvers.*\n(?: .*\n)*/m, '')
    .replaceAll(' resolvers docker init-addr none', '');
  for (const [from, to] of Object.entries(changes)) {
    expect(changed).toContain(from);
    changed = changed.replaceAll(from, to);
  }
  return changed;
};

test.skipIf(!haproxy)(
  `the address of the database leads to the primary, and to the standby once it is promoted${whySkipped({ haproxy })}`,
  async () => {
    await using first = await startPostgres();
    await using second = await startPostgres();
    for (const { url } of [first, second]) await execute(url, 'create role health login');
    await second.kill('SIGINT');
    await writeFile(join(second.dataDir, 'standby.signal'), '');
    await second.restart();
    const folder = await mkdtemp(join(tmpdir(), 'ap-haproxy-'));
    const server = await newServer('haproxy');
    try {
      const port = await freePort();
      const config = join(folder, 'haproxy.cfg');
      await writeFile(
        config,
        onThisMachine(configs.database.content, {
          'bind :5432': `bind 127.0.0.1:${port}`,
          'postgres-1:5432': `127.0.0.1:${first.port}`,
          'postgres-2:5432': `127.0.0.1:${second.port}`,
        }),
      );
      await appendFile(config, '\n');
      const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
      const leadsTo = async (): Promise<number> => {
        const [row] = await query<{ port: string }>(url, 'select current_setting($$port$$) as port');
        return Number(row!.port);
      };
      await server.start({
        command: haproxy!,
        args: ['-f', config],
        isReady: leadsTo,
        withinMs: 20_000,
      });
      // The standby is a second choice, and no choice while it is one.
      await until(async () => (await server.log()).includes('postgres-2 is DOWN'));
      expect(await leadsTo()).toBe(first.port);
      await first.kill('SIGKILL');
      await until(async () => (await server.log()).includes('postgres-1 is DOWN'));
      await expect(leadsTo()).rejects.toThrow();
      await execute(second.url, 'select pg_promote()');
      expect(await until(leadsTo)).toBe(second.port);
    } finally {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    }
  },
  60_000,
);
