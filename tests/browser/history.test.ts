import { expect, test } from 'vitest';
import { newAgent } from '../contract/fixture.ts';
import { describeInBrowser, detail } from './fixture.ts';

describeInBrowser('the history of the browser', (at) => {
  test('Back undoes a tab, a status and a filter, and leaves out what was typed', async () => {
    const agent = await newAgent(at(), { name: 'Undone' });
    const page = await at().open(`/agents/${agent.id}`);
    const address = () => new URL(page.url()).pathname + new URL(page.url()).search;
    await page.getByRole('tab', { name: 'Tools' }).click();
    await expect.poll(address).toBe(`/agents/${agent.id}?tab=tools`);
    await page.goBack();
    await page.getByRole('tab', { name: 'Overview', selected: true }).waitFor();
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Work Items', exact: true })
      .click();
    await page
      .getByRole('navigation', { name: 'Status' })
      .getByRole('link', { name: /^Failed/ })
      .click();
    await expect.poll(address).toBe('/work-items?status=ERROR');
    await page.getByRole('button', { name: /^Source/ }).click();
    await page.getByRole('option', { name: 'API' }).click();
    await expect.poll(address).toMatch(/source=api/);
    await page.getByLabel('Filter', { exact: true }).fill('typed');
    await expect.poll(address).toMatch(/q=typed/);
    await page.goBack();
    await expect.poll(address).toBe('/work-items?status=ERROR');
    await expect.poll(() => page.getByLabel('Filter', { exact: true }).inputValue()).toBe('');
    await page.goBack();
    await expect.poll(address).toBe('/work-items');
    await page.goBack();
    await expect.poll(address).toBe(`/agents/${agent.id}`);
  });

  detail('Back from a row leads to the same place of the list, also when its rows come later', async () => {
    for (let i = 0; i < 40; i += 1) await newAgent(at(), { name: `Row ${i}` });
    const page = await at().open('/agents');
    await page.getByRole('row').nth(40).waitFor();
    const top = () => page.evaluate<number>('scrollY');
    for (const wait of [0, 600]) {
      await page.route(/\/app\/api\/agents\?/, async (route) => {
        await new Promise((done) => setTimeout(done, wait));
        await route.continue();
      });
      await page.evaluate('scrollTo(0, 900)');
      await expect.poll(top).toBe(900);
      await page.getByRole('link', { name: /^Row 10\b/ }).scrollIntoViewIfNeeded();
      const before = await top();
      expect(before).toBeGreaterThan(300);
      await page
        .getByRole('row', { name: /^Row 10\b/ })
        .getByRole('cell')
        .nth(2)
        .click();
      await page.getByRole('heading', { level: 1, name: 'Row 10' }).waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
      await expect.poll(top).toBe(before);
    }
  });
});
