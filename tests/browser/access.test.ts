import { expect, test } from 'vitest';
import { newKey, ok } from '../contract/fixture.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';

describeInBrowser('API keys, users and role mappings', (at) => {
  test('a key is created by name and role, its value is shown once with commands that work', async () => {
    const page = await at().open('/api-keys');
    await page.getByRole('button', { name: 'New API key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await expectAccessible(page, wide);
    await dialog.getByLabel('Name').fill('Nightly export');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('button', { name: 'Copy value' }).waitFor();
    await expectAccessible(page, phone);
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
    await page.waitForURL(/q=/);
    // Rows of the list before are pale until the new one is there.
    await page.locator('[aria-busy]').waitFor({ state: 'hidden' });
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByText('Nightly export').waitFor();
    expect(await page.content()).not.toContain(value);
    await expectAccessible(page);
  });

  detail('a key is revoked after a question that says when it was last used', async () => {
    const { value } = await newKey(at(), 'member', { name: 'Old pod' });
    await at().test.as(value, '/api/v2').get('/agents');
    const page = await at().open('/api-keys');
    await page.getByRole('row', { name: /Old pod/ }).hover();
    await page.getByRole('button', { name: /Old pod/ }).click();
    await page.getByRole('menuitem', { name: 'Revoke key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke key' });
    expect(await dialog.textContent()).toMatch(/It was last used .+\. Requests/);
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('row', { name: /Old pod/ }).waitFor({ state: 'hidden' });
    expect((await at().test.as(value, '/api/v2').get('/agents')).status).toBe(401);
  });

  detail(
    'a wrong value is an error at its field, and a filter that nothing matches can be cleared',
    async () => {
      const page = await at().open('/api-keys?new=1');
      expectFault(page, /422/);
      const dialog = page.getByRole('dialog', { name: 'New API key' });
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.locator('[aria-invalid="true"]').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await visit(page, `/api-keys?status=expired`);
      await page.getByText(/No API keys match/).waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByRole('row').nth(1).waitFor();
      await expect.poll(() => new URL(page.url()).search).toBe('');
    },
  );

  test('a person is invited, gets another role and is deleted', async () => {
    const page = await at().open('/users');
    await page.getByRole('button', { name: 'Invite user' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite user' });
    await dialog.getByLabel('Email').fill('ada@example.com');
    await expectAccessible(page, wide);
    await dialog.getByRole('button', { name: 'Invite user' }).click();
    await page
      .getByRole('cell', { name: /ada@example.com/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    // The button of the empty list is gone: the heading has the focus.
    await page.locator('h1:focus').waitFor();
    // What opened a dialog has the focus again.
    const menu = page.getByRole('button', { name: /ada@example.com/ });
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Change role' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Change role' }).waitFor();
    await page.keyboard.press('Escape');
    await menu.and(page.locator(':focus')).waitFor();
    const choose = async (item: string) => {
      await page.getByRole('row', { name: /ada@example.com/ }).hover();
      await page.getByRole('button', { name: /ada@example.com/ }).click();
      await page.getByRole('menuitem', { name: item }).click();
      return page.getByRole('dialog', { name: item });
    };
    const role = await choose('Change role');
    await role.getByLabel('Role').click();
    await page.getByRole('option', { name: /Admin/ }).click();
    await role.getByRole('button', { name: 'Change role' }).click();
    await page.getByRole('cell', { name: /Admin/ }).first().waitFor();
    const remove = await choose('Delete user');
    await remove.getByRole('button', { name: 'Delete user' }).click();
    await page.getByText('No one has signed in').waitFor();
  });

  test('a mapping says before it is saved whose role it changes, and claims can be tried on it', async () => {
    const page = await at().open('/role-mappings');
    await page.getByRole('button', { name: 'New role mapping' }).click();
    const dialog = page.getByRole('dialog', { name: 'New role mapping' });
    await dialog.getByLabel('Value').fill('platform-builders');
    await dialog.getByLabel('Role').click();
    await page.getByRole('option', { name: /Builder/ }).click();
    await dialog.getByText('No user would get another role.').waitFor();
    await expectAccessible(page, wide);
    await dialog.getByRole('button', { name: 'Create role mapping' }).click();
    await page
      .getByRole('cell', { name: /platform-builders/ })
      .first()
      .waitFor();
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByRole('button', { name: 'Show role' }).click();
    await preview.getByText('The role is Builder.').waitFor();
    await preview.getByLabel('Claims').fill('{"groups": ["others"]}');
    await preview.getByRole('button', { name: 'Show role' }).click();
    await preview.getByText('Found: others.').waitFor();
    await expectAccessible(page, phone);
    // The same claim and value twice.
    expectFault(page, /422/);
    await page.getByRole('button', { name: 'New role mapping' }).click();
    await dialog.getByLabel('Value').fill('platform-builders');
    await dialog.getByRole('button', { name: 'Create role mapping' }).click();
    await dialog.locator('[aria-invalid="true"], [role="alert"]').first().waitFor();
    expect((await ok(at().api.get('/role-mappings'))).data).toHaveLength(1);
  });
});
