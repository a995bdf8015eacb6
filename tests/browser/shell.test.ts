import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectAccessible } from './accessibility.ts';
import { describeInBrowser } from './fixture.ts';

const dist = join(import.meta.dirname, '..', '..', 'console', 'dist');

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

describeInBrowser('the application', (at) => {
  test('opens at / with the navigation, in every look', async () => {
    const page = await at().open('/');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(await page.title()).toContain('Agent Platform');
    const navigation = page.getByRole('navigation', { name: 'Main' });
    for (const name of ['Overview', 'Schedules', 'Work Items', 'Agents', 'Integrations', 'Settings']) {
      await navigation.getByRole('link', { name, exact: true }).waitFor();
    }
    await expectAccessible(page);
  });

  test('has a page for an address that it does not know, from which it goes on', async () => {
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
