import { readFileSync } from 'node:fs';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseNatsAddress } from '@agent-platform/otlp/jetstream';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { execute, query } from '../harness/postgres.ts';
import { startPostgresPair } from '../harness/postgres-pair.ts';
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
  `the address of the database leads to the primary, and to no old primary that lives on or starts again${whySkipped({ haproxy })}`,
  async () => {
    await using pair = await startPostgresPair();
    await execute(pair.url, 'create role health login');
    const [first, second] = pair.ports as [number, number];
    const folder = await mkdtemp(join(tmpdir(), 'ap-haproxy-'));
    const server = await newServer('haproxy');
    try {
      const port = await freePort();
      const config = join(folder, 'haproxy.cfg');
      await writeFile(
        config,
        onThisMachine(configs.database.content, {
          'bind :5432': `bind 127.0.0.1:${port}`,
          'postgres-1:5432': `127.0.0.1:${first}`,
          'postgres-2:5432': `127.0.0.1:${second}`,
        }),
      );
      await appendFile(config, '\n');
      const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
      const leadsTo = async (): Promise<number> => {
        const [row] = await query<{ port: string }>(url, 'select current_setting($$port$$) as port');
        return Number(row!.port);
      };
      const start = () =>
        server.start({ command: haproxy!, args: ['-f', config], isReady: leadsTo, withinMs: 20_000 });
      const logged = (line: string) => until(async () => (await server.log()).includes(line), 20_000);
      await start();
      // The standby is a second choice, and no choice while it is one.
      await logged('possible/postgres-2 is DOWN');
      await logged('certain/postgres-2 is DOWN');
      expect(await leadsTo()).toBe(first);

      const failingOver = pair.failOver({ aliveForMs: 12_000 });
      expect(await until(async () => (await leadsTo()) === second && second, 20_000)).toBe(second);
      // The old primary lives on, and says that it is no standby.
      const [old] = await query(
        `postgres://postgres@127.0.0.1:${first}/postgres`,
        'select pg_is_in_recovery() as standby',
      );
      expect(old).toEqual({ standby: false });
      await failingOver;
      await logged('possible/postgres-1 is DOWN');

      expect(await pair.oldStarts()).toBe(first);
      await logged('possible/postgres-1 is UP');
      expect(await leadsTo()).toBe(second);
      await server.kill('SIGKILL');
      await start();
      // Until its first checks HAProxy takes every server for one that is up.
      await until(async () => (await leadsTo()) === second, 5_000);

      // Alone, and told to wait for a standby: it cannot commit, and reads go on.
      await pair.kill('SIGKILL');
      await logged('certain/postgres-2 is DOWN');
      expect(await until(leadsTo, 20_000)).toBe(first);
    } finally {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    }
  },
  120_000,
);
