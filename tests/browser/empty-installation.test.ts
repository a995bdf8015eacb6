import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ok } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { describeInBrowser } from './fixture.ts';

const look = [{ scheme: 'light', width: 1280 }] as const;

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

/** The names of the buttons and links that are shown in the content of the page, with how many have each. */
const namesIn = async (page: Page): Promise<Map<string, number>> => {
  const counts = new Map<string, number>();
  for (const name of fixedNames) {
    const options = { name, exact: true };
    const found = page.getByRole('button', options).or(page.getByRole('link', options));
    counts.set(name, await found.count());
  }
  return counts;
};

/** Waits until nothing of the page is loading. */
const loaded = (page: Page) =>
  expect.poll(() => page.getByRole('status', { name: 'Loading' }).count(), { timeout: 5_000 }).toBe(0);

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
      await expectAccessible(page, look);
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
      await page.goto(at().test.origin + path);
      await page.getByText(/^No .+ match 1 filter\.$/).waitFor();
      expect(await page.getByText('Clear filters').count(), path).toBe(1);
    }
  });
});
