import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { expectAccessible, phone } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail } from './fixture.ts';

const dist = join(import.meta.dirname, '..', '..', 'console', 'dist');

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

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

describeInBrowser('the application', (at) => {
  test('asks everyone to sign in, and leads to the address that was asked for', async () => {
    const asked = '/schedules?view=timeline&zone=Europe%2FBerlin';
    const page = await openUnknown(at, asked);
    await expect.poll(() => new URL(page.url()).pathname).toBe('/sign-in');
    await expectAccessible(page);
    await signIn(page, adminKey);
    await page.waitForURL((url) => url.pathname === '/schedules');
    await expect.poll(() => new URL(page.url()).searchParams.get('view')).toBe('timeline');
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
    await expect.poll(() => new URL(page.url()).pathname).toBe('/');
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
    await expectAccessible(page, phone);
    await signIn(page, adminKey);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });

  detail('does not return to another site', async () => {
    for (const elsewhere of ['//evil.example/x', '/\\evil.example', 'javascript:alert(1)']) {
      const page = await openUnknown(at, `/sign-in?return_to=${encodeURIComponent(elsewhere)}`);
      await signIn(page, adminKey);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await expect.poll(() => page.url()).toBe(`${at().test.origin}/`);
    }
  });

  test('opens at / with the navigation, in every look', async () => {
    const page = await at().open('/');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await expect.poll(() => page.title()).toContain('Agent Platform');
    const navigation = page.getByRole('navigation', { name: 'Main' });
    for (const name of ['Overview', 'Schedules', 'Work Items', 'Agents', 'Integrations', 'Settings']) {
      await navigation.getByRole('link', { name, exact: true }).waitFor();
    }
  });

  test('folds the groups of a long navigation, remembers it, and opens that of the present page', async () => {
    const page = await at().open('/');
    const rail = page.getByRole('navigation', { name: 'Main' });
    const [connect, manage] = ['Connect', 'Manage'].map((name) =>
      rail.getByRole('button', { name, exact: true }),
    );
    const stateOf = (group: typeof connect) => group!.getAttribute('aria-expanded');
    expect([await stateOf(connect), await stateOf(manage)]).toEqual(['true', 'true']);
    await connect!.click();
    await manage!.click();
    await rail.getByRole('link', { name: 'Channels', exact: true }).waitFor({ state: 'hidden' });
    const below = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('aside nav'))`;
    expect(await page.evaluate<number>(below)).toBeLessThanOrEqual(0);
    await expectAccessible(page, [{ scheme: 'dark', width: 1280 }]);

    await page.goto(`${at().test.origin}/routes/new`);
    const here = rail.getByRole('link', { name: 'Channels', exact: true });
    await here.waitFor();
    expect(await here.getAttribute('aria-current')).toBe('page');
    expect([await stateOf(connect), await stateOf(manage)]).toEqual(['true', 'false']);
    // The links are no fields: a form with a field "Agents" has one of that name.
    await page.getByLabel('Agents', { exact: true }).click({ trial: true });
    await connect!.click();
    await here.waitFor({ state: 'hidden' });
  });

  detail('has a page for an address that it does not know, from which it goes on', async () => {
    const page = await at().open('/nothing/here');
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Overview', exact: true }).last().click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  test('loads at most 8 scripts and styles of 220 kB for a first Overview, compressed, and nothing else twice', async () => {
    const page = await at().open('/');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const loaded = await page.evaluate<{ path: string; sent: number; size: number }[]>(
      `performance.getEntriesByType('resource').map(({ name, encodedBodySize, decodedBodySize }) =>
        ({ path: new URL(name).pathname, sent: encodedBodySize, size: decodedBodySize }))`,
    );
    const code = loaded.filter(({ path }) => /\.(js|css)$/.test(path));
    const figures = JSON.stringify(code, null, 2);
    expect(code.length, figures).toBeLessThanOrEqual(8);
    const gzipped = ({ path }: { path: string }) => (existsSync(`${dist}${path}.gz`) ? `${path}.gz` : path);
    const bytes = code.map((file) => statSync(dist + gzipped(file)).size);
    expect(sum(bytes), figures).toBeLessThanOrEqual(220_000);
    for (const { path, sent, size } of code) if (size > 1_000) expect(sent, path).toBeLessThan(size / 2);
    const assets = loaded.map(({ path }) => path).filter((path) => path.startsWith('/assets/'));
    expect(new Set(assets).size).toBe(assets.length);
  });
});
