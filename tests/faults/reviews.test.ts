import { expect, test } from 'vitest';
import { type Database, openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { createMigrated } from '../harness/database.ts';
import { client } from '../harness/http.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { adminKey, spawnPlatform } from '../harness/process.ts';
import { until } from '../harness/wait.ts';

const items = 120;

const rows = async (db: Database, statement: ReturnType<typeof sql>) =>
  // biome-ignore lint/suspicious/noExplicitAny: read column by column
  (await db.run((executor) => statement.execute(executor))).rows as any[];

test('what waits without a review gets one, and each expires once, over a kill in the middle', async () => {
  const databaseUrl = await createMigrated();
  const db = await openPostgres(databaseUrl, silentLogger);
  try {
    await using first = await spawnPlatform({ databaseUrl });
    const api = client(`${first.url}/api/v2`, adminKey);
    const { body: agent } = await api.post('/agents', {
      name: 'A',
      mode: 'worker',
      execution: 'external',
      approval_timeout_seconds: 60,
    });
    // As a replica of the release before leaves them, an hour ago.
    await rows(
      db,
      sql`insert into work_items (id, agent_id, agent_version, message, payload, status, created_by, conversation_id,
          updated_at, pending_approvals)
        select new_id(), ${agent.id}, 1, '', '{}', 'NEEDS_REVIEW', 'x', new_id(), platform_now() - interval '1 hour',
          jsonb_build_array(jsonb_build_object('approval_id', n::text, 'kind', 'tool_call', 'tool_name', 'pay',
            'tool_server_id', null, 'arguments', '{}'::jsonb, 'input_schema', null, 'reason', null,
            'requested_at', '2026-01-01T00:00:00.000Z', 'expires_at', null))
        from generate_series(1, ${items}::int) n`,
    );
    const expired = async (): Promise<number> =>
      (await rows(db, sql`select count(*)::int as n from reviews where state = 'expired'`))[0].n;
    await until(async () => (await expired()) > 0, 60_000);
    await first.kill('SIGKILL');
    expect(await expired()).toBeLessThan(items);

    await using second = await spawnPlatform({ databaseUrl });
    await until(async () => (await expired()) === items, 60_000);
    const [counts] = await rows(
      db,
      sql`select (select count(*)::int from work_items where status = 'PENDING') as pending,
        (select count(*)::int from reviews) as reviews,
        (select count(*)::int from work_item_events where action = 'continue') as continued,
        (select count(*)::int from audits where action = 'review.expire') as audited`,
    );
    expect(counts).toEqual({ pending: items, reviews: items, continued: items, audited: items });
    const [{ id }] = await rows(db, sql`select id from reviews order by id limit 1`);
    const { body } = await client(`${second.url}/api/v2`, adminKey).get(`/reviews/${id}`);
    expect(body).toMatchObject({ via: 'expiry', approvals: [{ decision: 'deny' }] });
  } finally {
    await db.close();
    await dropDatabase(databaseUrl);
  }
}, 400_000);
