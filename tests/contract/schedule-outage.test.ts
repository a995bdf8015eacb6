import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { type Platform, startPlatform } from '../../src/platform.ts';
import { copyEmbedded, createMigrated, type databases, testedDatabases } from '../harness/database.ts';
import { setDatabaseClock } from '../harness/database-clock.ts';
import { client } from '../harness/http.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { adminKey } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { ok } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const minute = 60_000;

/** A data folder and a database that outlive the platforms on them, and a way to set its clock between two of them. */
const openStorage = async (database: (typeof databases)[number]) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'ap-outage-'));
  const url = database === 'postgres' ? await createMigrated() : undefined;
  if (!url) await copyEmbedded(dataDir);
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    BOOTSTRAP_ADMIN_API_KEY: adminKey,
    ...(url ? { DATABASE_URL: url, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') } : {}),
  });
  const started: Platform[] = [];
  const start = async () => {
    const platform = await startPlatform(config, { log: silentLogger });
    started.push(platform);
    const origin = `http://127.0.0.1:${platform.port}`;
    const at = (base: string) => client(origin + base, adminKey);
    const setClock = async (offsetMs: number) => {
      if (!url) return setDatabaseClock(join(dataDir, 'database'), offsetMs);
      const name = new URL(url).pathname.slice(1);
      await platform.db.run((executor) =>
        sql`alter database ${sql.id(name)} set platform.clock_offset_ms = ${sql.lit(String(offsetMs))}`.execute(
          executor,
        ),
      );
    };
    return { platform, api: at('/api/v2'), app: at('/app/api'), setClock };
  };
  return {
    start,
    [Symbol.asyncDispose]: async () => {
      for (const platform of started) await platform.stop();
      if (url) await dropDatabase(url);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};

describe('after an outage', () => {
  test.each(testedDatabases)(
    'each missed occurrence says from when to when no replica was scheduling (on the %s database)',
    async (database) => {
      await using storage = await openStorage(database);
      const first = await storage.start();
      const agent = await ok(first.api.post('/agents', { name: 'Reporter', mode: 'worker' }));
      const fields = { cron_expression: '* * * * *', work_item_name: 'Minute report' };
      const schedule = await ok(first.api.post(`/agents/${agent.id}/schedules`, fields));
      const path = `/agents/${agent.id}/schedules/${schedule.id}`;
      const isScheduling = async () =>
        (await first.platform.db.run((r) => r.selectFrom('replicas').select('scheduling_at').execute())).some(
          (row) => row.scheduling_at !== null,
        );
      await until(isScheduling);
      await first.setClock(5 * minute);
      await first.platform.stop();

      const second = await storage.start();
      const skipped: Json = await until(async () => {
        const { data } = await ok(second.app.get(`${path}/occurrences?outcome=skipped`));
        return data.find(({ reason }: Json) => /^No replica/.test(reason));
      });
      const sentence =
        /No replica was scheduling from \d\d:\d\d to \d\d:\d\d \(UTC\): the last one had been stopped\./;
      expect(skipped).toMatchObject({ cause: 'missed', reason: expect.stringMatching(sentence) });
      expect(skipped.count).toBeGreaterThanOrEqual(3);
      const { data: why } = await ok(second.app.get(`${path}/explain?at=${skipped.scheduled_for}`));
      expect(why).toMatchObject({ verdict: 'skipped', nominal: true, text: expect.stringMatching(sentence) });

      const { attention } = await ok(second.app.get('/overview'));
      expect(attention.find(({ kind }: Json) => kind === 'occurrences_skipped')).toMatchObject({
        count: skipped.count,
        subject: { type: 'schedule', id: schedule.id, name: 'Minute report' },
        detail: expect.stringMatching(sentence),
      });
      expect(attention.map(({ kind }: Json) => kind)).not.toContain('no_scheduler');
    },
  );
});
