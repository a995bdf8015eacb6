import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { openEmbedded, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { size } from '../faults/scenarios/fixture.ts';
import { createDatabase, dropDatabase, execute, query } from '../harness/postgres.ts';
import { spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import {
  type DatabaseKind,
  databases,
  migrationsFolder,
  readDump,
  releases,
  restore,
  unpack,
} from './archive.ts';

const items = size('UPGRADE_WORK_ITEMS', 300_000);

/** Completed Work Items of the past, each with a history and messages as the release before wrote them. */
const fill = (count: number): string[] => [
  `insert into work_items (id, agent_id, message, payload, status, created_by, conversation_id, created_at, started_at,
    finished_at, work_item_name, attempts)
    select gen_random_uuid(), (select id from agents limit 1), 'm', '{}', 'COMPLETED', 'scheduler', gen_random_uuid(),
      platform_now() - n * interval '1 second', platform_now() - n * interval '1 second', platform_now(), 'old ' || n, 1
    from generate_series(1, ${count}) n`,
  `insert into work_item_events (work_item_id, id, to_status, action, principal, details)
    select id, gen_random_uuid(), 'COMPLETED', 'finish', '{}', '{}' from work_items where work_item_name like 'old %'`,
  `insert into work_item_messages (work_item_id, id, conversation_id, role, content)
    select id, gen_random_uuid(), conversation_id, 'user', '"m"' from work_items where work_item_name like 'old %'`,
];

const count = `select (select count(*) from work_items where work_item_name like 'old %')::integer as items,
  (select count(*) from work_item_messages)::integer as messages, (select count(*) from audits)::integer as audits,
  (select count(*) from migrations)::integer as migrations`;
type Counts = Record<'items' | 'messages' | 'audits' | 'migrations', number>;

interface Old extends AsyncDisposable {
  dataDir: string;
  databaseUrl: string | null;
  /** What is in the database. The embedded one is opened for it, so no platform may run. */
  counts(): Promise<Counts>;
}

const open = async (release: string, kind: DatabaseKind): Promise<Old> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'ap-upgrade-'));
  unpack(release, kind, dataDir);
  const databaseUrl = kind === 'postgres' ? await createDatabase(inject('postgresUrl')) : null;
  const embedded = async <T>(statements: string[]): Promise<T[]> => {
    const db = await openEmbedded(dataDir, silentLogger);
    let rows: T[] = [];
    for (const text of statements) rows = (await db.tx((tx) => sql.raw<T>(text).execute(tx))).rows;
    await db.close();
    return rows;
  };
  if (databaseUrl) {
    await restore(databaseUrl, readDump(release));
    for (const statement of fill(items)) await execute(databaseUrl, statement);
  } else await embedded(fill(items / 10));
  return {
    dataDir,
    databaseUrl,
    counts: async () =>
      databaseUrl ? (await query<Counts>(databaseUrl, count))[0]! : (await embedded<Counts>([count]))[0]!,
    [Symbol.asyncDispose]: async () => {
      if (databaseUrl) await dropDatabase(databaseUrl);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};

test.each(releases().flatMap((release) => databases.map((kind) => [release, kind] as const)))(
  'a start that is killed while it migrates the data of %s, on the %s database, loses nothing, and the next one continues',
  async (release, kind) => {
    await using old = await open(release, kind);
    const before = await old.counts();
    const start = (readyWithinMs: number | null) =>
      spawnPlatform({
        dataDir: old.dataDir,
        ...(old.databaseUrl ? { databaseUrl: old.databaseUrl } : {}),
        env: { ROLES: 'api,delivery' },
        readyWithinMs,
      });
    const all = readdirSync(migrationsFolder).length;
    let partial = 0;
    for (let applied = before.migrations; applied < all; ) {
      const platform = await start(null);
      // A line for each migration. The embedded database is fast, so it is killed after the first.
      const seen = () => platform.output().split('"migration applied"').length - 1;
      await until(() => seen() >= (kind === 'embedded' ? 1 : Math.min(5, all - applied)), 300_000, 1);
      await platform.stop();
      const after = await old.counts();
      expect([after.items, after.messages]).toEqual([before.items, before.messages]);
      expect(after.migrations).toBeGreaterThan(applied);
      if (after.migrations < all) partial++;
      applied = after.migrations;
    }
    expect(partial).toBeGreaterThan(0);
    const begun = performance.now();
    const platform = await start(300_000);
    console.log(
      `${kind}: ${before.items} Work Items, ready after ${Math.round(performance.now() - begun)} ms`,
    );
    expect(platform.output()).not.toMatch(/"level":"(error|fatal)"/);
    expect(await platform.kill('SIGTERM')).toMatchObject({ code: 0 });
    await platform.stop();
    const after = await old.counts();
    expect(after).toMatchObject({ items: before.items, messages: before.messages });
    expect(after.migrations).toBeGreaterThan(before.migrations);
  },
);
