import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';

describeInBrowser('settings, status, audit log and branding', (at) => {
  detail('several are changed at once after a look at what changes, and one is reset', async () => {
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

  detail('a value out of bounds is an error at its field, and nothing is saved', async () => {
    const page = await at().open('/settings?q=lease');
    expectFault(page, /422/);
    await page.getByLabel('WORK_ITEM_LEASE_SECONDS', { exact: true }).fill('1');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('[aria-invalid="true"], [role="alert"]').first().waitFor();
    expect((await ok(at().api.get('/advanced-settings'))).WORK_ITEM_LEASE_SECONDS).toBe(30);
  });

  test('an entry is found by who, what and target, and the chain is verified', async () => {
    await newAgent(at(), { name: 'Night clerk' });
    const page = await at().open('/audit');
    await page
      .getByRole('row', { name: /agent\.create.*Night clerk/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/entr(y|ies), chain whole, last hash [0-9a-f]{64}$/).waitFor();
    await expectAccessible(page);
    await visit(page, `/audit?action=agent.delete`);
    await page.getByText(/No entries match/).waitFor();
  });

  detail('the status names the replica and its roles', async () => {
    const page = await at().open('/status');
    await page.getByText('Alive').waitFor();
    expect(await page.getByRole('table').textContent()).toContain('scheduler');
    await expectAccessible(page, wide);
  });

  test('is saved, and the frame and the sign-in page have it at once', async () => {
    const page = await at().open('/branding');
    await page.getByLabel('Workspace name').fill('Night shift');
    await page.getByLabel('Color', { exact: true }).fill('#ffcc00');
    await page.getByText(/Contrast 1\.\d to 1, and text needs 4\.5/).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('Branding saved').waitFor();
    await page.getByRole('complementary', { name: 'Workspace' }).getByText('Night shift').waitFor();
    expect((await ok(at().api.get('/branding'))).workspace_name).toBe('Night shift');
    const other = await at().open('/sign-in', { as: null });
    await other.getByText('to the agents of Night shift').waitFor();
    // The form around the button is not saved when its dialog is answered: that would be a 412.
    await page.getByLabel('Workspace name').fill('Not saved');
    await page.getByRole('button', { name: 'Clear branding' }).click();
    const dialog = page.getByRole('dialog', { name: 'Clear branding' });
    await dialog.getByRole('button', { name: 'Clear branding' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByLabel('Workspace name').and(page.locator('[value=""]')).waitFor();
    expect((await ok(at().api.get('/branding'))).workspace_name).toBe('');
    // What is typed now is a change of the cleared branding, and no conflict.
    await page.getByLabel('Workspace name').fill('Day shift');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('complementary', { name: 'Workspace' }).getByText('Day shift').waitFor();
  });

  detail('shows what is wrong at its field, which gets the focus', async () => {
    const page = await at().open('/branding');
    expectFault(page, /422/);
    const color = page.getByLabel('Color', { exact: true });
    await color.fill('blue');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('must be a color such as #1f6feb').waitFor();
    await color.and(page.locator(':focus')).waitFor();
    await expectAccessible(page, phone);
    await color.fill('#112233');
    expect(await page.getByText('must be a color such as #1f6feb').count()).toBe(0);
  });

  detail('shows both versions when someone else was first', async () => {
    const page = await at().open('/branding');
    expectFault(page, /412/);
    const name = page.getByLabel('Workspace name');
    const theyWrite = (workspace_name: string) => ok(at().api.patch('/branding', { workspace_name }));
    const dialog = page.getByRole('dialog', { name: 'Someone else changed this in the meantime' });
    const conflict = async (mine: string, theirs: string) => {
      await name.fill(mine);
      await theyWrite(theirs);
      await page.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('row', { name: new RegExp(`${theirs}.*${mine}`) }).waitFor();
    };
    await conflict('Mine', 'Theirs');
    await expectAccessible(page, phone);
    await dialog.getByRole('button', { name: 'Keep theirs' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await name.inputValue()).toBe('Theirs');
    await conflict('Mine again', 'Theirs again');
    await dialog.getByRole('button', { name: 'Write mine' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await ok(at().api.get('/branding'))).workspace_name).toBe('Mine again');
  });

  detail('can be read by those who may not change it, with the reason', async () => {
    const page = await at().open('/branding', { as: 'member' });
    const save = page.getByRole('button', { name: 'Save' });
    await save.focus();
    expect(await save.getAttribute('aria-disabled')).toBe('true');
    await save.and(page.locator(':focus')).waitFor();
    const reason = await save.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${reason}"]`).textContent()).toBe(
      'Requires the role admin; you act as member.',
    );
    await expectAccessible(page, wide);
  });

  detail('stays on the page when a refresh fails', async () => {
    const page = await at().open('/branding');
    await page.getByLabel('Workspace name').fill('Kept');
    await page.route('**/api/v2/branding', (route) => route.abort());
    expectFault(page, /ERR_FAILED/);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('The platform can not be reached.').waitFor();
    expect(await page.getByLabel('Workspace name').inputValue()).toBe('Kept');
  });
});
