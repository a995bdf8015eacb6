import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser } from './fixture.ts';

/** The browser is not signed in yet: that the API says so is no fault. */
const openUnknown = async (
  at: () => { open: (path: string, o: { as: null }) => Promise<Page> },
  path: string,
) => {
  const page = await at().open(path, { as: null });
  expectFault(page, /\b401\b/);
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  return page;
};

const signIn = async (page: Page, key: string): Promise<void> => {
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};

describeInBrowser('sign-in', (at) => {
  test('is asked of whoever comes, and leads to the address that was asked for', async () => {
    const asked = '/schedules?view=timeline&zone=Europe%2FBerlin';
    const page = await openUnknown(at, asked);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await expectAccessible(page);
    await signIn(page, adminKey);
    await page.waitForURL((url) => url.pathname === '/schedules');
    expect(new URL(page.url()).searchParams.get('view')).toBe('timeline');
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    await page.reload();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });

  test('works by keyboard alone', async () => {
    const page = await openUnknown(at, '/');
    const focused = () => page.evaluate<string>('document.activeElement.name ?? ""');
    await expect.poll(focused).toBe('api_key');
    await page.keyboard.type(await at().keyOf('member'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });

  test('keeps no key anywhere', async () => {
    const page = await openUnknown(at, '/');
    await signIn(page, adminKey);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    const kept = await page.evaluate<string>(
      'JSON.stringify([localStorage, sessionStorage, location.href, document.cookie, history.state]) + document.documentElement.outerHTML',
    );
    expect(kept).not.toContain(adminKey);
    expect(kept).not.toContain('ap_session');
  });

  test('says that a key is wrong, and lets another be tried', async () => {
    const page = await openUnknown(at, '/');
    await signIn(page, 'ap_wrong');
    await page.getByText('No key is like this one').waitFor();
    await expectAccessible(page);
    await signIn(page, adminKey);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });

  test('does not return to another site', async () => {
    for (const elsewhere of ['//evil.example/x', '/\\evil.example', 'javascript:alert(1)']) {
      const page = await openUnknown(at, `/sign-in?return_to=${encodeURIComponent(elsewhere)}`);
      await signIn(page, adminKey);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      expect(page.url()).toBe(`${at().test.origin}/`);
    }
  });
});
