import { expect, test } from 'vitest';
import { newKey } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('API keys', (at) => {
  test('a key is created by name and role, its value is shown once with commands that work', async () => {
    const page = await at().open('/api-keys');
    await page.getByRole('button', { name: 'New API key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await expectAccessible(page, [{ scheme: 'light', width: 1280 }]);
    await dialog.getByLabel('Name').fill('Nightly export');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('button', { name: 'Copy value' }).waitFor();
    await expectAccessible(page, [{ scheme: 'dark', width: 360 }]);
    const value = await dialog.getByLabel('Value', { exact: true }).inputValue();
    expect(value).toMatch(/^ap_/);
    expect(await dialog.getByText(`${at().test.origin}/api/v2`, { exact: true }).isVisible()).toBe(true);
    expect(await dialog.textContent()).toContain(`Authorization: Bearer ${value}`);
    expect((await at().test.as(value, '/api/v2').get('/agents')).status).toBe(200);
    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('Nightly export').waitFor();
    await page.getByRole('row', { name: /Nightly export.*by bootstrap administrator/ }).waitFor();
    await page.getByLabel('Filter').fill(value.slice(0, 9));
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByText('Nightly export').waitFor();
    expect(await page.content()).not.toContain(value);
    await expectAccessible(page);
  });

  test('a key is revoked after a question that says when it was last used', async () => {
    const { value } = await newKey(at(), 'member', { name: 'Old pod' });
    await at().test.as(value, '/api/v2').get('/agents');
    const page = await at().open('/api-keys');
    await page.getByRole('row', { name: /Old pod/ }).hover();
    await page.getByRole('button', { name: /Old pod/ }).click();
    await page.getByRole('menuitem', { name: 'Revoke key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke key' });
    expect(await dialog.textContent()).toMatch(/It was last used .+\. Requests/);
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('Old pod').waitFor({ state: 'hidden' });
    expect((await at().test.as(value, '/api/v2').get('/agents')).status).toBe(401);
  });

  test('a wrong value is an error at its field, and a filter that nothing matches can be cleared', async () => {
    const page = await at().open('/api-keys?new=1');
    expectFault(page, /422/);
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.goto(`${at().test.origin}/api-keys?status=expired`);
    await page.getByText(/No API keys match/).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('row').nth(1).waitFor();
    expect(new URL(page.url()).search).toBe('');
  });
});
