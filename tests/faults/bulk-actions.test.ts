import { expect, test } from 'vitest';
import { type Database, openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { createMigrated } from '../harness/database.ts';
import { client } from '../harness/http.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { adminKey, spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';

const items = 1_500;

const rows = async (db: Database, statement: ReturnType<typeof sql>) =>
  // biome-ignore lint/suspicious/noExplicitAny: read column by column
  (await db.run((executor) => statement.execute(executor))).rows as any[];

test('a bulk action goes on when its replica is killed in the middle: each Work Item is moved once', async () => {
  const databaseUrl = await createMigrated();
  const db = await openPostgres(databaseUrl, silentLogger);
  try {
    await using first = await spawnPlatform({ databaseUrl });
    const app = client(`${first.url}/app/api`, adminKey);
    const api = client(`${first.url}/api/v2`, adminKey);
    const agent = (await api.post('/agents', { name: 'A', mode: 'worker', execution: 'external' })).body;
    await rows(
      db,
      sql`insert into work_items (id, agent_id, message, payload, status, created_by, conversation_id)
        select new_id(), ${agent.id}, '', '{}', 'DRAFT', 'x', new_id() from generate_series(1, ${items}::int)`,
    );
    const body = { action: 'submit', filter: { agent_id: agent.id }, expected_count: items };
    const { status, body: bulk } = await app.post('/work-items/actions', body);
    expect(status).toBe(202);
    const progress = async () =>
      (await rows(db, sql`select * from work_item_bulk_actions where id = ${bulk.bulk_id}`))[0];
    await until(async () => (await progress()).done > 0, 20_000);
    await first.kill('SIGKILL');
    const left = await progress();
    expect([left.finished_at, left.done < items]).toEqual([null, true]);

    await using second = await spawnPlatform({ databaseUrl });
    await until(async () => (await progress()).finished_at !== null, 60_000);
    const shown = (await client(`${second.url}/app/api`, adminKey).get(`/work-items/actions/${bulk.bulk_id}`))
      .body;
    expect(shown).toMatchObject({ state: 'finished', matched: items, done: items, refused: [], failed: 0 });
    const [counts] = await rows(
      db,
      sql`select count(*)::int as events, count(distinct work_item_id)::int as moved from work_item_events
        where action = 'submit'`,
    );
    expect(counts).toEqual({ events: items, moved: items });
    const audits = await rows(db, sql`select details from audits where target_id = ${bulk.bulk_id}`);
    expect(audits.map(({ details }) => details.done)).toEqual([items]);
  } finally {
    await db.close();
    await dropDatabase(databaseUrl);
  }
}, 400_000);
