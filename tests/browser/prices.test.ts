import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { completion, startEndpoint } from '../harness/llm-endpoint.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('Prices', (at) => {
  test('a model without a price is given one, which is ended later', async () => {
    const { api } = at();
    await using endpoint = await startEndpoint(() => ({ body: completion({ content: 'Done.' }) }));
    const llm = await ok(
      api.post('/llm-configurations', {
        kind: 'openai_compatible',
        name: 'House model',
        model: 'house-1',
        base_url: endpoint.url,
      }),
    );
    const agent = await newAgent(at(), { llm_id: llm.id });
    await ok(api.post('/work-items', { agent_id: agent.id, message: 'x' }));
    await until(async () => (await ok(api.get('/charges?status=unknown_price'))).data.length > 0);
    await ok(api.get(`/prices/resolve?llm_id=${(await ok(api.get('/llm-configurations/defaults'))).llm_id}`));
    const above = { input_tokens: 200_000, rates: { input: 6, output: 22.5 } };
    await ok(api.post('/prices', { model: 'big-*', rates: { input: 3, output: 15, request: 0.01 }, above }));

    const page = await at().open('/prices');
    await page.getByRole('heading', { level: 1, name: 'Prices' }).waitFor();
    const missing = page.getByRole('region', { name: 'Without a price' });
    await missing.getByRole('row', { name: /model-1-2026-01-01.*House model/ }).waitFor();
    await page.getByRole('region', { name: 'Catalogue' }).getByRole('row', { name: /mock/ }).waitFor();
    await page
      .getByRole('row', { name: /big-\*.*above 200,000 tokens.*\$3.*\$6.*Per request \$0.01/ })
      .waitFor();
    await expectAccessible(page);

    await missing.getByRole('button', { name: 'Set price' }).click();
    const dialog = page.getByRole('dialog', { name: 'New price' });
    await expect
      .poll(() => dialog.getByLabel('Model', { exact: true }).inputValue())
      .toBe('model-1-2026-01-01');
    await dialog.getByLabel('Input', { exact: true }).fill('0.1234567');
    await dialog.getByLabel('Output', { exact: true }).fill('2,5');
    await dialog.getByLabel('Cached input').fill('0');
    expectFault(page, /422/);
    await dialog.getByRole('button', { name: 'Create price' }).click();
    await dialog.getByText(/at most 6 decimals/).waitFor();
    await expectAccessible(page, wide);
    await dialog.getByLabel('Input', { exact: true }).fill('0.5');
    await dialog.getByRole('button', { name: 'Create price' }).click();
    await page.getByText('Price created').waitFor();
    const own = page.getByRole('region', { name: 'Own prices' });
    await own
      .getByRole('row', { name: /model-1-2026-01-01.*House model.*\$0.5.*\$2.5.*\$0.*since/ })
      .waitFor();
    // It has one now.
    await missing.waitFor({ state: 'detached' });
    await expectAccessible(page, phone);

    await own.getByRole('button', { name: /More actions.*model-1/ }).click();
    await page.getByRole('menuitem', { name: 'End price' }).click();
    const end = page.getByRole('dialog', { name: 'End price' });
    await end.getByLabel('Valid to').fill('2100-01-01T00:00');
    await end.getByRole('button', { name: 'End price' }).click();
    await page.getByText('Price ended').waitFor();
    await own.getByRole('row', { name: /model-1-2026-01-01.*until.*2100/ }).waitFor();
  });

  test('a builder sees prices, and learns who may change them', async () => {
    const page = await at().open('/prices', { as: 'builder' });
    const button = page.getByRole('button', { name: 'New price' });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
  });
});
