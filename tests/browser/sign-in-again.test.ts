import type { Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { ok } from '../contract/fixture.ts';
import { startForgingProvider } from '../harness/forging-provider.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';

const idp = await startForgingProvider();
afterAll(() => idp[Symbol.asyncDispose]());

/** Signs the person of `page` out, as another tab would, or the provider. */
const endSession = async (page: Page): Promise<void> => {
  const { origin } = new URL(page.url());
  const ended = await page.context().request.post(`${origin}/app/api/sign-out`, { headers: { origin } });
  expect(ended.status()).toBe(200);
};

/** Signs in with the provider, in the tab that the dialog opens, and comes back from it. */
const signInAgain = async (page: Page): Promise<void> => {
  const dialog = page.getByRole('dialog', { name: 'Sign in' });
  const link = dialog.getByRole('link', { name: 'Sign in with single sign-on' });
  const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
  await tab.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await tab.close();
  await page.bringToFront();
  await page.evaluate(`dispatchEvent(new Event('focus'))`);
  await dialog.waitFor({ state: 'detached' });
};

describeInBrowser(
  'a session that ends, with an identity provider',
  (at) => {
    detail('what was typed stays, on a page and in a dialog, while one signs in again', async () => {
      await ok(at().api.post('/role-mappings', { claim: 'sub', value: 'alice', role: 'admin' }));
      const page = await at().open('/agents', { as: null });
      expectFault(page, /401/);
      await page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
      await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();

      await visit(page, '/agents/new');
      await page.getByLabel('Name', { exact: true }).fill('Survivor');
      await endSession(page);
      await page.getByRole('button', { name: 'Create agent' }).click();
      await page.getByRole('dialog', { name: 'Sign in' }).waitFor();
      await expectAccessible(page);
      await signInAgain(page);
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Survivor');
      await page.getByRole('button', { name: 'Create agent' }).click();
      await page.getByRole('heading', { level: 1, name: 'Survivor' }).waitFor();

      await visit(page, '/api-keys?new=1');
      const keyDialog = page.getByRole('dialog', { name: 'New API key' });
      await keyDialog.getByLabel('Name').fill('Nightly');
      await endSession(page);
      await keyDialog.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog', { name: 'Sign in' }).waitFor();
      await expectAccessible(page);
      // Escape closes neither.
      await page.keyboard.press('Escape');
      await signInAgain(page);
      expect(await keyDialog.getByLabel('Name').inputValue()).toBe('Nightly');
      await keyDialog.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'Copy value' }).waitFor();
    });
  },
  { env: idp.env },
);
