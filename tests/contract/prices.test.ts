import { describe, expect, test } from 'vitest';
import { until } from '../harness/wait.ts';
import {
  expectError,
  faults,
  newAgent,
  newKey,
  ok,
  onEachDatabase,
  time,
  unknownId,
  uuid,
} from './fixture.ts';

const rates = { input: 3, output: 15 };
let llms = 0;
const openAi = { kind: 'openai', model: 'gpt-4o-2024-08-06', api_key: 'sk-x' };

onEachDatabase((at) => {
  const create = (fields: object) => at().api.post('/prices', { rates, ...fields });
  const newLlm = (fields: object = {}) =>
    ok(at().api.post('/llm-configurations', { ...openAi, name: `o${llms++}`, ...fields }));
  const resolve = (llmId: string, more = '') => at().api.get(`/prices/resolve?llm_id=${llmId}${more}`);
  const list = async (query: string) =>
    (await ok(at().api.get(`/prices?${query}`))).data.map(({ id }: { id: string }) => id);

  test('a price has its rates as decimals, and is valid from now on', async () => {
    const given = { input: 3, output: '15.50', cache_read: 0.3, cache_write: '3.750000', request: null };
    const above = { input_tokens: 200_000, rates: { input: '06', output: 0.000001 } };
    const price = await ok(create({ model: 'claude-*', rates: given, above }));
    expect(price).toEqual({
      id: expect.stringMatching(uuid),
      source: 'own',
      llm_id: null,
      model: 'claude-*',
      rates: { input: '3', output: '15.5', cache_read: '0.3', cache_write: '3.75' },
      above: { input_tokens: 200_000, rates: { input: '6', output: '0.000001' } },
      valid_from: expect.stringMatching(time),
      valid_to: null,
      created_at: expect.stringMatching(time),
    });
    expect(Math.abs(Date.parse(price.valid_from) - Date.parse(price.created_at))).toBeLessThan(5_000);
    expect(await ok(at().api.get(`/prices/${price.id}`))).toEqual(price);
    const spring = { valid_from: '2026-03-01T00:00:00+01:00', valid_to: '2026-06-01T00:00:00Z' };
    expect(await ok(create({ model: 'x', ...spring }))).toMatchObject({
      valid_from: '2026-02-28T23:00:00.000Z',
      valid_to: '2026-06-01T00:00:00.000Z',
    });
  });

  test.each([
    ['rates.input', { rates: { ...rates, input: -1 } }],
    ['rates.input', { rates: { ...rates, input: 1_000_000.5 } }],
    ['rates.output', { rates: { ...rates, output: '0.0000001' } }],
    ['rates.output', { rates: { ...rates, output: '1e3' } }],
    ['rates.cache_read', { rates: { ...rates, cache_read: 1e-7 } }],
    ['above.rates.reasoning', { above: { input_tokens: 1, rates: { ...rates, reasoning: '' } } }],
    ['above.input_tokens', { above: { input_tokens: 1.5, rates } }],
    ['model', { model: 'x'.repeat(501) }],
    ['llm_id', { llm_id: unknownId }],
    ['llm_id', { llm_id: 'x' }],
    ['valid_from', { valid_from: '2026-01-01' }],
    ['valid_to', { valid_from: '2026-01-01T00:00:00Z', valid_to: '2026-01-01T00:00:00Z' }],
    ['valid_to', { valid_to: '2026-01-01T00:00:00Z' }],
  ])('%s that is wrong is 422', async (path, fields) => {
    const response = await create({ model: 'm', ...fields });
    expect([response.status, faults(response)]).toEqual([422, [path]]);
  });

  test('a price only ends; a change of anything else is 422', async () => {
    const price = await ok(create({ model: 'fixed', valid_from: '2026-01-01T00:00:00Z' }));
    const patch = (body: object) => at().api.patch(`/prices/${price.id}`, body);
    const { id, ...others } = price;
    expect(faults(await patch(others)).sort()).toEqual(
      ['above', 'created_at', 'llm_id', 'model', 'rates', 'source', 'valid_from'].sort(),
    );
    expect(faults(await patch({ rates, valid_to: null }))).toEqual(['rates']);
    for (const valid_to of ['2026-01-01T00:00:00Z', '2025-01-01T00:00:00Z', 'never']) {
      expect(faults(await patch({ valid_to }))).toEqual(['valid_to']);
    }
    const valid_to = '2026-02-01T00:00:00.000Z';
    expect(await ok(patch({ valid_to }))).toEqual({ ...price, valid_to });
    expect(await ok(patch({}))).toEqual({ ...price, valid_to });
    expect(await ok(patch({ valid_to: null }))).toEqual(price);
  });

  test('a price that no charge names is deleted', async () => {
    const price = await ok(create({ model: 'to-delete', valid_from: '2026-01-01T00:00:00Z' }));
    await ok(at().api.delete(`/prices/${price.id}`), 204);
    expectError(await at().api.get(`/prices/${price.id}`), 404);
    expectError(await at().api.delete(`/prices/${price.id}`), 404);
    expectError(await at().api.patch(`/prices/${price.id}`, { valid_to: null }), 404);
    expect(await list('model=to-delete')).toEqual([]);
  });

  test('a price that a charge names is ended, not deleted', async () => {
    const { api, app, sql } = at();
    const llm = await newLlm({ kind: 'mock', name: 'charged', model: 'mock' });
    const price = await ok(create({ model: 'mock', llm_id: llm.id, valid_from: '2026-01-01T00:00:00Z' }));
    const agent = await newAgent(at(), { llm_id: llm.id });
    await ok(api.post('/work-items', { agent_id: agent.id, message: 'x' }));
    await until(async () => (await ok(api.get(`/charges?price_id=${price.id}`))).data.length > 0);
    const path = `/prices/${price.id}`;
    expectError(await api.delete(path), 412, /End it instead/);
    expect(await ok(api.get(path))).toEqual(price);
    // A document without it ends it.
    const prices = { document: { version: 1, prices: [] }, prune: true };
    await ok(app.post('/workspace/apply', prices));
    const ended = await ok(api.get(path));
    expect(ended).toEqual({ ...price, valid_to: expect.stringMatching(time) });
    await ok(app.post('/workspace/apply', prices));
    expect(await ok(api.get(path))).toEqual(ended);
    // A charge of a call that was under way may name a price that was deleted in the meantime.
    await sql`update prices set deleted_at = platform_now() where id = ${price.id}`;
    expect(await ok(api.get(path))).toEqual(ended);
    expect(await list(`llm_id=${llm.id}`)).toEqual([]);
  });

  test('lists are filtered', async () => {
    const llm = await newLlm();
    const winter = { valid_from: '2025-12-01T00:00:00Z', valid_to: '2026-03-01T00:00:00Z' };
    const one = await ok(create({ model: 'Filtered', ...winter }));
    const two = await ok(create({ model: 'filtered', llm_id: llm.id }));
    expect(await list('model=FILTERED')).toEqual([two.id, one.id]);
    expect(await list(`llm_id=${llm.id}`)).toEqual([two.id]);
    expect(await list('llm_id=x')).toEqual([]);
    expect(await list('model=filtered&at=2026-03-01T00:00:00Z')).toEqual([]);
    expect(await list('model=filtered&at=2026-02-28T23:59:59Z')).toEqual([one.id]);
    expect(await list('model=filtered&source=catalogue')).toEqual([]);
    expect(await list('model=filtered&source=own')).toHaveLength(2);
  });

  test('the price of a call is the own one, else that of the catalogue, by the names in their order', async () => {
    const llm = await newLlm({ model: 'my-deployment' });
    const none = await ok(resolve(llm.id));
    expect(none).toEqual({
      price: null,
      matched: null,
      catalogue: { name: '@pydantic/genai-prices', version: '0.1.8', date: '2026-09-23' },
    });
    const found = await ok(resolve(llm.id, '&model=gpt-4o-2024-08-06'));
    expect(found).toMatchObject({
      matched: 'reported',
      price: { source: 'catalogue', model: 'gpt-4o', rates: { input: '2.5', output: '10' }, llm_id: null },
    });
    expect(await list('source=catalogue&model=gpt-4o')).toEqual([found.price.id]);
    expect((await ok(resolve(llm.id, '&model=gpt-4o'))).price.id).toBe(found.price.id);

    // At once, without waiting for a notification.
    const own = await ok(create({ model: 'My-*' }));
    expect(await ok(resolve(llm.id, '&model=gpt-4o'))).toMatchObject({ matched: 'requested', price: own });
    await ok(at().api.patch(`/llm-configurations/${llm.id}`, { price_as: 'gpt-4.1' }));
    expect(await ok(resolve(llm.id))).toMatchObject({ matched: 'requested', price: own });
    await ok(at().api.delete(`/prices/${own.id}`), 204);
    expect(await ok(resolve(llm.id, '&model=gpt-4o'))).toMatchObject({
      matched: 'price_as',
      price: { model: 'gpt-4.1' },
    });
    const later = await ok(create({ model: 'gpt-4.1', valid_from: '2100-01-01T00:00:00Z' }));
    expect(await ok(resolve(llm.id))).toMatchObject({ price: { source: 'catalogue' } });
    expect(await ok(resolve(llm.id, '&at=2100-01-01T00:00:00Z'))).toMatchObject({ price: later });
    expect(faults(await resolve(unknownId))).toEqual(['llm_id']);
    expect(faults(await resolve('x'))).toEqual(['llm_id']);
    expectError(await at().api.get('/prices/resolve'), 400);
  });

  test('the mock is free, unless it has a price of its own', async () => {
    const { id } = await ok(at().api.post('/llm-configurations', { kind: 'mock', name: 'm', model: 'mock' }));
    const free = { source: 'catalogue', rates: { input: '0', output: '0' } };
    expect(await ok(resolve(id))).toMatchObject({ matched: 'requested', price: free });
    const own = await ok(create({ model: 'mock', llm_id: id }));
    expect(await ok(resolve(id))).toMatchObject({ matched: 'requested', price: own });
  });

  test('a price of the catalogue is not changed or deleted: 412', async () => {
    const { price } = await ok(resolve((await newLlm()).id));
    const path = `/prices/${price.id}`;
    expect(await ok(at().api.get(path))).toEqual(price);
    expectError(await at().api.patch(path, { valid_to: '2100-01-01T00:00:00Z' }), 412, /of your own/);
    expectError(await at().api.delete(path), 412, /of your own/);
  });

  test('builders read prices, and admins change them', async () => {
    const builder = await newKey(at(), 'builder');
    const by = at().as(builder.value);
    const price = await ok(create({ model: 'read' }));
    await ok(by.get('/prices'));
    await ok(by.get(`/prices/${price.id}`));
    expectError(await by.post('/prices', { model: 'm', rates }), 403);
    expectError(await by.patch(`/prices/${price.id}`, { valid_to: null }), 403);
    expectError(await by.delete(`/prices/${price.id}`), 403);
    expectError(
      await at()
        .as((await newKey(at(), 'member')).value)
        .get('/prices'),
      403,
    );
  });

  describe('in a workspace document', () => {
    const apply = (prices: object[], more: object = {}) =>
      at().app.post('/workspace/apply', { document: { version: 1, prices }, ...more });
    const actions = async (prices: object[], more: object = {}) => {
      const { changes } = await ok(
        at().app.post('/workspace/plan', { document: { version: 1, prices }, ...more }),
      );
      return changes.map(({ action, name }: { action: string; name: string }) => [action, name]);
    };
    const all = async (model: string) => (await ok(at().api.get(`/prices?source=own&model=${model}`))).data;

    test('prices are told apart by configuration, model and time, in whatever form', async () => {
      const llm = await newLlm({ name: 'documented' });
      const document = [
        { model: 'doc-1', rates: { input: 1, output: '2.0' }, valid_from: '2026-01-01T00:00:00Z' },
        { model: 'doc-1', rates, valid_from: '2026-02-01T00:00:00+01:00' },
        { model: 'doc-1', llm: 'documented', rates, valid_from: '2026-01-01T00:00:00.000Z' },
      ];
      await ok(apply(document));
      const made = await all('doc-1');
      expect(made).toHaveLength(3);
      expect(made).toContainEqual(
        expect.objectContaining({ llm_id: llm.id, rates: { input: '3', output: '15' } }),
      );
      expect((await actions(document)).map(([action]: string[]) => action)).toEqual(
        Array(3).fill('unchanged'),
      );
      const exported = (await ok(at().app.get('/workspace?format=json'))).prices;
      const own = exported.filter(({ model }: { model: string }) => model === 'doc-1');
      expect(own).toHaveLength(3);
      expect(own).toContainEqual({
        model: 'doc-1',
        rates: { input: '1', output: '2' },
        valid_from: '2026-01-01T00:00:00.000Z',
      });
      expect((await actions(own)).every(([action]: string[]) => action === 'unchanged')).toBe(true);
      const without = await apply([{ model: 'doc-2', rates }]);
      expectError(without, 422, /valid_from/);
    });

    test('other rates are a new price in place of the old one', async () => {
      const price = { model: 'doc-3', rates, valid_from: '2026-01-01T00:00:00Z' };
      await ok(apply([price]));
      const [before] = await all('doc-3');
      await ok(apply([{ ...price, rates: { ...rates, input: 4 } }]));
      const after = await all('doc-3');
      expect(after).toMatchObject([{ rates: { input: '4' } }]);
      expect(after[0].id).not.toBe(before.id);
      await ok(apply([{ ...price, rates: { ...rates, input: 4 }, valid_to: '2100-01-01T00:00:00Z' }]));
      expect(await all('doc-3')).toMatchObject([{ id: after[0].id, valid_to: '2100-01-01T00:00:00.000Z' }]);
    });

    test('prune deletes what is not in the document, but no history', async () => {
      const price = { rates, valid_from: '2026-01-01T00:00:00Z' };
      await ok(
        apply([
          { ...price, model: 'doc-4', valid_to: '2026-02-01T00:00:00Z' },
          { ...price, model: 'doc-5' },
        ]),
      );
      const names = async () => (await actions([], { prune: true })).map(([, name]: string[]) => name);
      expect(await names()).toContain('doc-5 from 2026-01-01T00:00:00.000Z');
      expect(await names()).not.toContain('doc-4 from 2026-01-01T00:00:00.000Z');
      await ok(apply([], { prune: true }));
      expect(await all('doc-5')).toEqual([]);
      expect(await all('doc-4')).toHaveLength(1);
      expect(await names()).toEqual([]);
    });
  });
});
