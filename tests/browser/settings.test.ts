import { expect, test } from 'vitest';
import { ok } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('settings', (at) => {
  test('several are changed at once after a look at what changes, and one is reset', async () => {
    const page = await at().open('/settings');
    await page.getByLabel('MAX_SCHEDULES_PER_AGENT', { exact: true }).fill('7');
    await page.getByLabel('CAPTURE_MESSAGE_CONTENT', { exact: true }).check();
    await page.getByText('MAX_SCHEDULES_PER_AGENT: 20 → 7').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Settings saved').waitFor();
    const saved = { MAX_SCHEDULES_PER_AGENT: 7, CAPTURE_MESSAGE_CONTENT: true };
    expect(await ok(at().api.get('/advanced-settings'))).toMatchObject(saved);
    await page.getByLabel('Changed only').check();
    await page.getByRole('button', { name: 'Reset MAX_SCHEDULES_PER_AGENT' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await ok(at().api.get('/advanced-settings'))).MAX_SCHEDULES_PER_AGENT)
      .toBe(20);
  });

  test('a value out of bounds is an error at its field, and nothing is saved', async () => {
    const page = await at().open('/settings?q=lease');
    expectFault(page, /422/);
    await page.getByLabel('WORK_ITEM_LEASE_SECONDS', { exact: true }).fill('1');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('[aria-invalid="true"], [role="alert"]').first().waitFor();
    expect((await ok(at().api.get('/advanced-settings'))).WORK_ITEM_LEASE_SECONDS).toBe(30);
  });
});
