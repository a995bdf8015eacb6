import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { int, seeded } from '../../../packages/cron/tests/random.ts';
import { decodeProtobuf } from '../../../packages/otlp/tests/decode.ts';
import { type Database, openEmbedded, openPostgres, sql } from '../../../src/database/index.ts';
import { silentLogger } from '../../../src/lib/log.ts';
import { copyEmbedded, createMigrated } from '../../harness/database.ts';
import { dropDatabase } from '../../harness/postgres.ts';
import type { CountersByIntegration, ServerOptions } from '../../harness/telemetry-server.ts';
import { until } from '../../harness/wait.ts';
import { freePort } from '../../harness/watchdog.ts';
import { spawnTelemetry } from './telemetry-process.ts';
import { Clients, spansARequest } from './telemetry-traffic.ts';

export interface StoreKillsOptions {
  database: 'embedded' | 'postgres';
  kills: number;
  /** Requests that are acknowledged before a kill, at most. */
  requests: number;
  seed: number;
}

export interface StoreKillsReport {
  kills: number;
  /** Starts at which the store had more than the cursor of the log knew: a kill between two commits. */
  ahead: number;
  /** How often all connections to the database were cut while it stored. */
  cuts: number;
  acknowledged: number;
  stored: number;
  /** Empty if every acknowledged span is stored exactly once and every count is exact. */
  problems: string[];
}

const accepted = (one: CountersByIntegration[number]): number =>
  one.delivered + one.rejected + one.dead_lettered + one.expired + one.discarded + one.queued;

/** The names of all spans in the store, in batches of blocks. */
const countNames = async (db: Database): Promise<Map<string, number>> => {
  const names = new Map<string, number>();
  for (let after = 0; ; ) {
    const { rows } = await db.run((executor) =>
      sql<{ id: number; content: Buffer }>`select id, content from trace_blocks where id > ${after}
        order by id limit 100`.execute(executor),
    );
    if (rows.length === 0) return names;
    for (const { id, content } of rows) {
      after = id;
      for (const { name } of decodeProtobuf(zstdDecompressSync(content)))
        names.set(name, (names.get(name) ?? 0) + 1);
    }
  }
};

/**
 * SIGKILL in a loop while spans come in and are stored; at times all connections to PostgreSQL are cut, so that the
 * response to a COMMIT is lost. Every start must find exact counters; at the end the store is compared with what was
 * acknowledged, span by span.
 */
export const runStoreUnderKills = async (options: StoreKillsOptions): Promise<StoreKillsReport> => {
  const random = seeded(options.seed);
  const directory = await mkdtemp(join(tmpdir(), 'ap-store-kills-'));
  const databaseUrl = options.database === 'postgres' ? await createMigrated() : null;
  if (databaseUrl === null) await copyEmbedded(directory);
  const own = databaseUrl === null ? null : await openPostgres(databaseUrl, silentLogger, 2);
  const server: ServerOptions = {
    directory,
    port: await freePort(),
    integrations: [],
    segmentBytes: 200_000,
    store: { databaseUrl },
  };
  const traffic = new Clients(server.port);
  const report: StoreKillsReport = { kills: 0, ahead: 0, cuts: 0, acknowledged: 0, stored: 0, problems: [] };
  const say = (problem: string) => report.problems.push(`after ${report.kills} kills: ${problem}`);

  const check = async (counters: CountersByIntegration): Promise<void> => {
    const one = counters[0];
    if (one === undefined) return;
    const least = traffic.acknowledged.length * spansARequest;
    const most = least + traffic.unanswered.length * spansARequest;
    if (accepted(one) < least || accepted(one) > most)
      say(`${accepted(one)} accepted of ${least} to ${most}`);
    if (one.rejected + one.expired + one.discarded > 0) say(`some are left out: ${JSON.stringify(one)}`);
    const { rows } = own
      ? await own.run((executor) =>
          sql<{ stored: number }>`select stored from trace_positions`.execute(executor),
        )
      : { rows: [] };
    const stored = rows[0]?.stored ?? one.delivered;
    if (stored < one.delivered) say(`${one.delivered} counted as stored, of ${stored}`);
    if (stored > one.delivered) report.ahead++;
  };

  try {
    for (let life = 0; report.kills < options.kills; life++) {
      const process_ = spawnTelemetry(server);
      await check(await process_.found);
      if (random() < 0.1) {
        // In the middle of the start.
        await sleep(random() * 100);
        await process_.kill();
        report.kills++;
        continue;
      }
      await process_.ready;
      const enough = traffic.acknowledged.length + int(random, 1, options.requests);
      const stop = new AbortController();
      const running = traffic.run(life, stop.signal);
      await until(() => traffic.acknowledged.length >= enough, 20_000, 2).catch(() =>
        say('too little was acknowledged'),
      );
      if (own && random() < 0.3) {
        await own.run((executor) =>
          sql`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()`.execute(executor),
        );
        report.cuts++;
      }
      if (random() < 0.5) {
        // Nothing comes in: the store catches up, and its cursor follows.
        stop.abort();
        await running;
        await sleep(random() * 800);
      } else await sleep(random() * 400);
      const killed = process_.kill();
      stop.abort();
      await Promise.all([killed, running]);
      report.kills++;
    }

    await using last = spawnTelemetry(server);
    await check(await last.found);
    await last.ready;
    const counters = await until(
      async () => {
        const found = await last.send();
        return found[0]!.queued === 0 && found;
      },
      600_000,
      100,
    );
    await check(counters);
    await last.kill();
    const db = own ?? (await openEmbedded(directory, silentLogger));
    const names = await countNames(db);
    if (db !== own) await db.close();
    report.acknowledged = traffic.acknowledged.length * spansARequest;
    report.stored = names.size;
    for (const [name, times] of names) if (times > 1) say(`${name} is stored ${times} times`);
    for (const prefix of traffic.acknowledged) {
      for (let i = 0; i < spansARequest; i++) {
        if (!names.has(`${prefix}-${i}`)) say(`${prefix}-${i} was acknowledged and is not stored`);
      }
    }
    if (counters[0]!.delivered !== names.size)
      say(`${counters[0]!.delivered} counted as stored, of ${names.size}`);
    report.problems.push(...traffic.refused);
  } finally {
    await own?.close();
    if (databaseUrl !== null) await dropDatabase(databaseUrl);
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
  return report;
};
