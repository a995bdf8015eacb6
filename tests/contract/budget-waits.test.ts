import { afterAll, expect, test } from 'vitest';
import { notify, sql } from '../../src/database/index.ts';
import { workItemsChannel } from '../../src/work-items/index.ts';
import { createMigrated } from '../harness/database.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { until } from '../harness/wait.ts';
import { type Fixture, newAgent, ok, startFixture } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

let url: string | null = null;
afterAll(async () => {
  if (url) await dropDatabase(url);
});

/** A platform on the one database of this file. */
const start = async (): Promise<Fixture> => {
  url ??= await createMigrated();
  const key = Buffer.alloc(32, 9).toString('base64');
  return startFixture('embedded', { DATABASE_URL: url, ENCRYPTION_KEY: key });
};

/** From now on the database's clock shows this time, and goes on. Workers look what is due. */
const setClock = async (at: Fixture, now: string): Promise<void> => {
  const offset = Math.round(Date.parse(now) - Date.now());
  await at.test.platform.db.tx(async (tx) => {
    await sql`create or replace function platform_now() returns timestamptz(3) language sql stable as ${sql.lit(
      `select (statement_timestamp() + ${offset} * interval '1 millisecond')::timestamptz(3)`,
    )}`.execute(tx);
    await notify(tx, workItemsChannel);
  });
};

test('a Work Item that waits for a budget goes on in the next month, over a restart and a change of the clock', async () => {
  let at = await start();
  try {
    // Berlin began its summer time on the 28th: the month ends at 22:00 by UTC, and began at 23:00.
    await setClock(at, '2027-03-31T21:57:00Z');
    const agent = await newAgent(at, { settings: { max_output_tokens: 16 } });
    const scope = { kind: 'agent', id: agent.id };
    const fields = { name: 'The month', scope, unit: 'tokens', limit: 1_500, action: 'wait' };
    const zone = { period: 'month', timezone: 'Europe/Berlin' };
    const budget = await ok(at.api.post('/budgets', { ...fields, ...zone }));
    await setClock(at, '2027-03-31T21:58:00Z');
    const payload = { mock: { steps: [{ text: 'Done.', usage: { input: 500, output: 100 } }] } };
    const newItem = async (): Promise<string> =>
      (await ok(at.api.post('/work-items', { agent_id: agent.id, message: 'Go', payload }))).id;
    // A replica that has not yet learned what time it is lets the Work Item wait for up to 30 s more.
    const reaches = (id: string, isSo: (item: Json) => boolean): Promise<Json> =>
      until(async () => {
        const item = await ok(at.test.app.get(`/work-items/${id}`));
        return isSo(item) && item;
      }, 60_000);
    // The replica learns within a second what time it is, and that the budget counts.
    await until(async () => {
      await reaches(await newItem(), ({ status }) => status === 'COMPLETED');
      return (await ok(at.api.get(`/budgets/${budget.id}`))).current.spent === 600;
    });
    const id = await newItem();
    const { waiting } = await reaches(id, (item) => item.waiting?.reason === 'budget');
    expect(Date.parse(waiting.until)).toBeGreaterThanOrEqual(Date.parse('2027-03-31T22:00:00Z'));
    expect(Date.parse(waiting.until)).toBeLessThanOrEqual(Date.parse('2027-03-31T22:00:30Z'));

    await at.test.stop();
    at = await start();
    await setClock(at, '2027-03-31T21:59:50Z');
    expect(await ok(at.api.get(`/work-items/${id}`))).toMatchObject({ status: 'PENDING', attempts: 0 });
    await setClock(at, waiting.until);
    await reaches(id, ({ status }) => status === 'COMPLETED');
    expect(await ok(at.api.get(`/work-items/${id}`))).toMatchObject({ attempts: 1 });
    const { data } = await ok(at.api.get(`/budgets/${budget.id}/periods`));
    expect(data.map(({ starts_at, ends_at, spent }: Json) => [starts_at, ends_at, spent])).toEqual([
      ['2027-03-31T22:00:00.000Z', '2027-04-30T22:00:00.000Z', 600],
      ['2027-02-28T23:00:00.000Z', '2027-03-31T22:00:00.000Z', 600],
    ]);
  } finally {
    await at.test.stop();
  }
});
