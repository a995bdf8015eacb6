import { expect, it, vi } from 'vitest';
import { eachDatabase } from '../../tests/harness/database.ts';
import { testServices } from '../../tests/harness/services.ts';
import { until } from '../../tests/harness/wait.ts';
import { type Database, json, sql } from '../database/index.ts';
import { unavailable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { createPrices, type PricedLlm, type Prices } from './index.ts';

const zero = { input: '0', output: '0' };
const at = new Date('2026-06-01T12:00:00Z');
const llm: PricedLlm = { id: newId(), kind: 'openai', base_url: null, price_as: null };

const needs = {
  isUsed: async () => false,
  resolveLlm: () => Promise.reject(new Error('not called')),
};

/** Inserts an own price; returns its id. */
const insert = async (
  db: Database,
  price: { model: string; llm_id?: string; from?: string; to?: string },
) => {
  const id = newId();
  const { model, llm_id = null, from = '2026-01-01Z', to } = price;
  const row = { id, source: 'own' as const, llm_id, model, rates: json(zero), above: null };
  const times = { valid_from: new Date(from), valid_to: to === undefined ? null : new Date(to) };
  await db.tx((tx) =>
    tx
      .insertInto('prices')
      .values({ ...row, ...times })
      .execute(),
  );
  return id;
};

const find = async (prices: Prices, given: Partial<Parameters<Prices['priceFor']>[0]>) => {
  const match = await prices.priceFor({ llm, reported: null, requested: 'none', at, ...given });
  return [match.price?.id ?? null, match.matched];
};

eachDatabase((_name, open) => {
  const opened = async () => {
    const db = open();
    await db.tx((tx) => sql`alter table prices disable trigger prices_immutable`.execute(tx));
    await db.tx((tx) => tx.deleteFrom('prices').execute());
    await db.tx((tx) => sql`alter table prices enable trigger prices_immutable`.execute(tx));
    await db.tx((tx) => sql`update price_revision set revision = revision + 1`.execute(tx));
    const prices = createPrices(testServices(db), needs);
    return { db, prices };
  };

  it('finds the own price that is nearest', async () => {
    const { db, prices } = await opened();
    const any = await insert(db, { model: '*' });
    const family = await insert(db, { model: 'GPT-*' });
    const longer = await insert(db, { model: 'gpt-4*mini' });
    const exact = await insert(db, { model: 'Gpt-4o-Mini' });
    const ended = await insert(db, { model: 'gpt-4o-mini', from: '2026-05-01Z', to: '2026-06-01T12:00:00Z' });
    const later = await insert(db, { model: 'o3', from: '2026-03-01Z' });
    await insert(db, { model: 'o3', from: '2026-02-01Z' });
    const same = await insert(db, { model: 'o3', from: '2026-03-01Z' });
    const ofLlm = await insert(db, { model: 'o4*', llm_id: llm.id });
    await insert(db, { model: 'o4-mini' });
    await insert(db, { model: 'gpt-5', llm_id: newId() });
    const requested = (name: string, when = at) => find(prices, { requested: name, at: when });

    expect(await requested('anything')).toEqual([any, 'requested']);
    expect(await requested('gpt-5')).toEqual([family, 'requested']);
    expect(await requested('gpt-4-mini')).toEqual([longer, 'requested']);
    expect(await requested('gpt-4o-mini')).toEqual([exact, 'requested']);
    // The end is not in its time any more.
    expect(await requested('gpt-4o-mini', new Date(at.getTime() - 1))).toEqual([ended, 'requested']);
    expect(await requested('o3')).toEqual([same, 'requested']);
    expect(later).not.toBe(same);
    expect(await requested('o4-mini')).toEqual([ofLlm, 'requested']);
    expect(await find(prices, { requested: 'o4-mini', llm: null })).not.toContain(ofLlm);
    expect(await requested('o3', new Date('2025-12-31Z'))).toMatchObject([expect.any(String), 'requested']);
  });

  it('asks all names of own prices before the catalogue', async () => {
    const { db, prices } = await opened();
    const own = await insert(db, { model: 'deployment-1' });
    const names = { reported: 'gpt-4o-2024-08-06', requested: 'deployment-1' };
    expect(await find(prices, names)).toEqual([own, 'requested']);
    expect(await find(prices, { ...names, requested: 'deployment-2' })).toMatchObject([
      expect.any(String),
      'reported',
    ]);
    const as = { ...llm, price_as: 'gpt-4.1' };
    const found = await prices.priceFor({ llm: as, ...names, requested: 'x', at });
    expect(found).toMatchObject({ matched: 'price_as', price: { model: 'gpt-4.1', source: 'catalogue' } });
    expect(await find(prices, { reported: 'x', requested: 'y' })).toEqual([null, null]);
    expect(await find(prices, { llm: null, requested: 'gpt-4o' })).toEqual([null, null]);
  });

  it('inserts a price of the catalogue once, whoever uses it first', async () => {
    const { db, prices } = await opened();
    const others = [createPrices(testServices(db), needs), createPrices(testServices(db), needs)];
    const names = ['gpt-4o', 'gpt-4o-2024-08-06', 'gemini-2.5-pro'];
    const found = await Promise.all(
      [prices, ...others].flatMap((one) =>
        names.map((requested) =>
          one.priceFor({
            llm: { ...llm, kind: requested[1] === 'e' ? 'google' : 'openai' },
            reported: null,
            requested,
            at,
          }),
        ),
      ),
    );
    expect(new Set(found.map(({ price }) => price!.id)).size).toBe(2);
    expect(found.find(({ price }) => price!.above)!.price!.above!.rates.input).toBe('2.5');
    const rows = await db.run((executor) => executor.selectFrom('prices').select('model').execute());
    expect(rows.map(({ model }) => model).sort()).toEqual(['gemini-2.5-pro', 'gpt-4o']);
    const free = await prices.priceFor({
      llm: { ...llm, kind: 'mock' },
      reported: null,
      requested: 'mock',
      at,
    });
    expect(free.price).toMatchObject({ model: 'mock', rates: zero, source: 'catalogue' });
  });

  it('sends no statement for a call, and is at once as new as a notification', async () => {
    const { db, prices } = await opened();
    const statements: string[] = [];
    await prices.start!();
    await find(prices, { requested: 'gpt-4o' });
    db.onStatement(({ text }) => statements.push(text));
    for (let i = 0; i < 100; i++) await find(prices, { requested: 'gpt-4o' });
    expect(statements).toEqual([]);
    db.onStatement(() => {});
    const own = await insert(db, { model: 'gpt-4o' });
    await until(async () => (await find(prices, { requested: 'gpt-4o' }))[0] === own);
  });

  it('is never older than 2 s, unless the database does not respond', async () => {
    const { db } = await opened();
    const own = await insert(db, { model: 'm' });
    let isAway = false;
    const run: Database['run'] = (fn) => (isAway ? Promise.reject(unavailable('away')) : db.run(fn));
    // Without notifications.
    const prices = createPrices(testServices({ ...db, run, listen: () => {} }), needs);
    const realNow = performance.now.bind(performance);
    let shift = 0;
    using _clock = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + shift);
    isAway = true;
    await expect(find(prices, { requested: 'm' })).rejects.toThrow('away');
    isAway = false;
    expect(await find(prices, { requested: 'm' })).toEqual([own, 'requested']);
    const exact = await insert(db, { model: 'M' });
    isAway = true;
    shift += 2_001;
    expect(await find(prices, { requested: 'm' })).toEqual([own, 'requested']);
    isAway = false;
    expect(await find(prices, { requested: 'm' })).toEqual([exact, 'requested']);
  });

  it('keeps what a price was', async () => {
    const { db, prices } = await opened();
    const id = await insert(db, { model: 'm' });
    const change = (what: ReturnType<typeof sql>) => db.tx((tx) => what.execute(tx));
    await expect(change(sql`update prices set rates = '{"input":"1","output":"1"}'`)).rejects.toThrow(
      /cannot be changed/,
    );
    await expect(change(sql`update prices set model = 'n'`)).rejects.toThrow(/cannot be changed/);
    await expect(change(sql`delete from prices`)).rejects.toThrow(/cannot be changed/);
    await expect(change(sql`truncate prices`)).rejects.toThrow(/cannot be changed/);
    await expect(change(sql`update prices set valid_to = valid_from`)).rejects.toThrow(/check/);
    await change(sql`update prices set deleted_at = platform_now() where id = ${id}`);
    await expect(change(sql`update prices set deleted_at = null`)).rejects.toThrow(/cannot be changed/);
    expect(await find(prices, { requested: 'm' })).toEqual([null, null]);
  });
});
