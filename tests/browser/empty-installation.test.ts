import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { makeShop } from '../../examples/shop.ts';
import { ok } from '../contract/fixture.ts';
import { expectAccessible, wide } from './accessibility.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';

/** The buttons, some of them links, that people and programs find by their names: at most one of each on a page. */
const fixedNames = [
  'New schedule',
  'New Work Item',
  'New agent',
  'New integration',
  'New LLM configuration',
  'New tool server',
  'New data connection',
  'New semantic data model',
  'New API key',
  'Try it: example agent',
  'Create schedule',
  'Create agent',
  'Create key',
  'Run now',
  'Pause',
  'Resume',
  'Save',
  'Delete',
  'Test',
  'Verify',
  'Continue',
  'Restart',
  'Cancel',
  'Complete',
  'Submit',
  'Clear filters',
  'Live',
  'Try again',
  'Sign out',
  'Download',
];

/** What the page of a link of the navigation offers to make; on the others nothing is made by such a button. */
const makes: Record<string, string> = {
  Schedules: 'New schedule',
  'Work Items': 'New Work Item',
  Agents: 'New agent',
  Integrations: 'New integration',
  'LLM configurations': 'New LLM configuration',
  'Tool servers': 'New tool server',
  'Data connections': 'New data connection',
  'Semantic data models': 'New semantic data model',
  'API keys': 'New API key',
};

/** The names of the buttons and links that are shown on the page, with how many have each: one look, not one a name. */
const namesIn = async (page: Page): Promise<Map<string, number>> => {
  const shown = await page.locator('body').ariaSnapshot();
  const lines = [...shown.matchAll(/(?:button|link) "([^"]+)"/g)].map(([, name]) => name!);
  return new Map(fixedNames.map((name) => [name, lines.filter((line) => line === name).length]));
};

/** Waits until nothing of the page is loading. */
const loaded = (page: Page) =>
  expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0);

describeInBrowser('an empty installation', (at) => {
  test('has a page for every link, with its heading, each button once, and nothing that fails', async () => {
    const page = await at().open('/');
    const main = page.getByRole('navigation', { name: 'Main' });
    await main.waitFor();
    const links = await main.getByRole('link').allTextContents();
    expect(links.length).toBeGreaterThanOrEqual(13);
    for (const name of links) {
      await main.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      expect(await page.getByRole('heading', { level: 1 }).count(), name).toBe(1);
      await loaded(page);
      const counts = await namesIn(page);
      for (const [button, count] of counts) expect(count, `${name}: ${button}`).toBeLessThanOrEqual(1);
      if (makes[name]) expect(counts.get(makes[name]), `${name}: ${makes[name]}`).toBe(1);
      await expectAccessible(page, wide);
    }
  });

  test('says once that nothing matches, with one button that clears the filters', async () => {
    await ok(
      at().app.post('/integrations', {
        version: '1',
        settings: { provider: 'otlp_custom_headers', url: 'https://one.example/v1/traces' },
      }),
      201,
    );
    const page = await at().open('/');
    for (const path of [
      '/api-keys?status=expired',
      '/users?status=suspended',
      '/agents?q=nobody',
      '/integrations?q=nothing',
      '/audit?q=nothing-of-the-kind',
      '/work-items?q=nothing',
      '/llm-configurations?q=nothing',
      '/tool-servers?q=nothing',
    ]) {
      await visit(page, path);
      await page.getByText(/^No .+ match 1 filter\.$/).waitFor();
      expect(await page.getByText('Clear filters').count(), path).toBe(1);
    }
  });

  test('leads from an empty installation to a completed Work Item with one click', async () => {
    const page = await at().open('/');
    await page.getByRole('region', { name: 'Set-up' }).waitFor();
    // As on a page that is served without TLS.
    await page.evaluate('crypto.randomUUID = undefined');
    await expectAccessible(page);
    const example = page.getByRole('button', { name: 'Try it: example agent' });
    await example.focus();
    await page.keyboard.press('Enter');
    await page
      .getByText(/Completed/i)
      .first()
      .waitFor({ timeout: 20_000 });
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/work-items\//);
    await page.getByRole('link', { name: 'Overview', exact: true }).first().click();
    await page.getByRole('region', { name: 'Needs attention' }).waitFor();
    await page.getByText(/^updated \d+ s ago$/).waitFor();
    await page.getByRole('region', { name: 'Timeline' }).getByText('Example').first().waitFor();
    await page.getByRole('region', { name: 'Set-up' }).getByText('1 of 6').waitFor({ state: 'hidden' });
    await expectAccessible(page);
  });
});

describeInBrowser('the command of an empty list', (at) => {
  /** Sends what the command on the page sends. */
  const run = async (page: Page): Promise<boolean> => {
    const command = (await page.locator('figure pre').textContent()) ?? '';
    const [, url, body] = /^curl (\S+) -H "Authorization: Bearer \$KEY" .* -d '(.*)'$/ms.exec(command)!;
    const headers = {
      authorization: `Bearer ${await at().keyOf('admin')}`,
      'content-type': 'application/json',
    };
    return (await fetch(url!, { method: 'POST', headers, body: body! })).ok;
  };

  detail('works as it stands: first it makes an agent, and then what the list is of', async () => {
    const page = await at().open('/work-items/new');
    expect(await run(page)).toBe(true);
    for (const path of ['/schedules?view=calendar', '/work-items']) {
      const other = await at().open(path);
      expect(await run(other), path).toBe(true);
      await other.reload();
      await other.locator('figure pre').waitFor({ state: 'detached' });
    }
  });

  detail('makes the connection that a model reads, and then a model of its first table', async () => {
    const page = await at().open('/semantic-data-models');
    await page.getByText('npm run example:shop').waitFor();
    // What the first command does, where this platform looks for files.
    makeShop(join(at().dataDir, 'databases', 'shop.db'));
    expect(await run(page)).toBe(true);
    await page.reload();
    await page.getByText('"table":"customers"').waitFor();
    expect(await run(page)).toBe(true);
    await page.reload();
    await page.getByRole('row', { name: /customers/ }).waitFor();
    await visit(page, '/data-connections');
    await page.getByRole('row', { name: /Shop/ }).waitFor();
  });
});
