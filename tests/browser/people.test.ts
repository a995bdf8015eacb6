import { expect, test } from 'vitest';
import { ok } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('Users and role mappings', (at) => {
  test('a person is invited, gets another role and is deleted', async () => {
    const page = await at().open('/users');
    await page.getByRole('button', { name: 'Invite user' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite user' });
    await dialog.getByLabel('Email').fill('ada@example.com');
    await expectAccessible(page, [{ scheme: 'dark', width: 1280 }]);
    await dialog.getByRole('button', { name: 'Invite user' }).click();
    await page
      .getByRole('cell', { name: /ada@example.com/ })
      .first()
      .waitFor();
    await expectAccessible(page);
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
    await page.getByText('Nobody has signed in').waitFor();
    await expectAccessible(page, [{ scheme: 'light', width: 360 }]);
  });

  test('a mapping says before it is saved whose role it changes, and claims can be tried on it', async () => {
    const page = await at().open('/role-mappings');
    await page.getByRole('button', { name: 'New role mapping' }).click();
    const dialog = page.getByRole('dialog', { name: 'New role mapping' });
    await dialog.getByLabel('Value').fill('platform-builders');
    await dialog.getByLabel('Role').click();
    await page.getByRole('option', { name: /Builder/ }).click();
    await dialog.getByText('No user would get another role.').waitFor();
    await expectAccessible(page, [{ scheme: 'light', width: 1280 }]);
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
    await expectAccessible(page);
    // The same claim and value twice.
    expectFault(page, /422/);
    await page.getByRole('button', { name: 'New role mapping' }).click();
    await dialog.getByLabel('Value').fill('platform-builders');
    await dialog.getByRole('button', { name: 'Create role mapping' }).click();
    await dialog.locator('[aria-invalid="true"], [role="alert"]').first().waitFor();
    expect((await ok(at().api.get('/role-mappings'))).data).toHaveLength(1);
  });
});
