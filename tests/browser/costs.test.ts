import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { completion, startEndpoint } from '../harness/llm-endpoint.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('Costs', (at) => {
  test('are summed up by what is chosen, and what has no price is said', async () => {
    const { api } = at();
    let model = 'gpt-4o';
    await using endpoint = await startEndpoint(() => ({
      body: { ...completion({ content: 'Done.' }), model },
    }));
    const shared = { kind: 'openai', api: 'chat_completions', api_key: 'sk-1', base_url: endpoint.url };
    const llm = await ok(api.post('/llm-configurations', { ...shared, name: 'Priced', model: 'gpt-4o' }));
    const other = await ok(api.post('/llm-configurations', { ...shared, name: 'House', model: 'house-9' }));
    const run = async (llmId: string, name: string) => {
      const agent = await newAgent(at(), { name, llm_id: llmId });
      const { id } = await ok(api.post('/work-items', { agent_id: agent.id, message: 'x' }));
      await until(async () => (await ok(api.get(`/charges?work_item_id=${id}`))).data.length > 0);
      await until(async () => (await ok(api.get(`/work-items/${id}`))).status === 'COMPLETED');
      return id as string;
    };
    const item = await run(llm.id, 'Night auditor');
    model = 'house-9';
    await run(other.id, 'House keeper');

    const page = await at().open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    const table = page.getByRole('table', { name: 'Costs' });
    await table.getByRole('row', { name: /Night auditor.*\$0\.00012.*100 %.*1.*28/ }).waitFor();
    await table.getByRole('row', { name: /House keeper.*unknown; 1 call without a price/ }).waitFor();
    await page
      .getByRole('region', { name: 'Cost over time' })
      .getByRole('row', { name: /at least/ })
      .waitFor();
    expect(await page.getByRole('link', { name: '1 call has no price' }).getAttribute('href')).toBe(
      '/prices',
    );
    await expectAccessible(page, wide);
    await page.getByRole('button', { name: /Group by/ }).click();
    await page.getByRole('option', { name: 'Model' }).click();
    await table.getByRole('row', { name: /gpt-4o/ }).waitFor();
    const href = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
    expect(href).toContain('group_by=model');
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/costs.png`, fullPage: true });
    await expectAccessible(page, phone);

    const detail = await at().open(`/work-items/${item}`);
    await detail.getByText('$0.00012').first().waitFor();
    if (process.env.SHOTS) await detail.screenshot({ path: `${process.env.SHOTS}/item.png`, fullPage: true });
    const overview = await at().open('/');
    await overview
      .getByRole('region', { name: 'Costs' })
      .getByText(/at least \$0\.00012; 1 call without a price/)
      .waitFor();
    if (process.env.SHOTS)
      await overview.screenshot({ path: `${process.env.SHOTS}/overview.png`, fullPage: true });
  });
});
