import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser } from './fixture.ts';

const usage = { input: 500, output: 100 };
const payload = { mock: { steps: [{ text: 'Done.', usage }] } };

describeInBrowser('Budgets', (at) => {
  test('a budget is created, used up, and given more room in Review', async () => {
    const { api } = at();
    const agent = await newAgent(at(), { name: 'Night clerk', settings: { max_output_tokens: 16 } });
    const page = await at().open('/budgets');
    await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
    await page.getByText('There are no budgets.').waitFor();
    await page.getByRole('button', { name: 'New budget' }).click();
    const dialog = page.getByRole('dialog', { name: 'New budget' });
    const choose = async (label: string, option: string) => {
      await dialog.getByRole('combobox', { name: label, exact: true }).click();
      await page.getByRole('option', { name: option, exact: true }).click();
    };
    await dialog.getByLabel('Name', { exact: true }).fill('Nights');
    await choose('Scope', 'Agent');
    await choose('Subject', 'Night clerk');
    await dialog.getByLabel('Limit', { exact: true }).fill('twenty');
    await choose('When it is reached', 'Ask an admin');
    expectFault(page, /422/);
    await dialog.getByRole('button', { name: 'Create budget' }).click();
    await dialog.getByText(/must be a number/).waitFor();
    await choose('Unit', 'Tokens');
    await dialog.getByLabel('Limit', { exact: true }).fill('1500');
    await expectAccessible(page, wide);
    await dialog.getByRole('button', { name: 'Create budget' }).click();
    await page.getByText('Budget created').waitFor();
    const thisPeriod = page.getByRole('region', { name: 'This period' });
    await thisPeriod.getByRole('row', { name: /Nights.*0 tokens of 1,500 tokens.*OK/ }).waitFor();

    // Budgets count calls from two seconds after their creation on.
    await sleep(2_100);
    const items: string[] = [];
    for (const status of ['COMPLETED', 'NEEDS_REVIEW']) {
      const { id } = await ok(api.post('/work-items', { agent_id: agent.id, message: 'Go', payload }));
      items.push(id);
      await until(async () => (await ok(api.get(`/work-items/${id}`))).status === status);
    }
    await thisPeriod.getByRole('row', { name: /Nights.*600 tokens of 1,500 tokens.*Used up/ }).waitFor();
    const waiting = page.getByRole('region', { name: 'Waiting' });
    await waiting.getByRole('row', { name: /Night clerk.*Nights.*An admin/ }).waitFor();
    await expectAccessible(page);

    await page.goto(`${at().test.origin}/review`);
    await page
      .getByText(/The budget Nights has no room/)
      .first()
      .waitFor();
    const extra = page.getByLabel('Extra', { exact: true });
    await expect.poll(() => extra.inputValue()).toMatch(/^\d{5}$/);
    await extra.fill('2000');
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Approve' }).click();
    await until(async () => (await ok(api.get(`/work-items/${items[1]}`))).status === 'COMPLETED');

    const { data } = await ok(api.get('/budgets'));
    await page.goto(`${at().test.origin}/budgets/${data[0].id}`);
    await page
      .getByRole('region', { name: 'Periods' })
      .getByRole('row', { name: /Night clerk.*1,200 tokens of 3,500 tokens.*2,000 tokens added.*OK/ })
      .waitFor();
    const settings = page.getByRole('region', { name: 'Settings' });
    await settings.getByLabel('Limit', { exact: true }).fill('2500');
    await settings.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Budget saved').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete budget' }).click();
    await page.getByText('There are no budgets.').waitFor();
  });
});
