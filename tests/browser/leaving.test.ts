import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { expectAccessible, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

describeInBrowser('leaving a page', (at) => {
  detail('an address without a page has the frame of the others', async () => {
    for (const path of ['/nowhere', '/agents/x/nowhere/y', '/%E0%A4%A']) {
      const page = await at().open(path);
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
      expect((await page.locator('h1').boundingBox())!.y).toBeGreaterThan(10);
    }
  });

  test('a form that was changed asks before one leaves it, and not after it was saved', async () => {
    const { id } = await newAgent(at(), { name: 'Reporter' });
    const page = await at().open(`/agents/${id}?tab=instructions`);
    const field = page.getByLabel('Instructions', { exact: true });
    const dialog = page.getByRole('dialog', { name: 'Discard changes' });
    await field.fill('Report.');
    await page.getByRole('tab', { name: 'Tools' }).click();
    await dialog.waitFor();
    await expectAccessible(page, wide);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('Report.');
    await button(page, 'Save').click();
    await page.getByText('Agent saved').waitFor();
    await page.getByRole('tab', { name: 'Tools' }).click();
    await page.waitForURL(/tab=tools/);
    await page.getByRole('tab', { name: 'Instructions' }).click();
    await field.fill('Report more.');
    await page.getByRole('link', { name: 'Status' }).click();
    await dialog.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('heading', { level: 1, name: 'Status' }).waitFor();

    // A save leads to another page, and the form's own "Discard" is no question.
    await visit(page, `/agents/new`);
    await page.getByLabel('Name', { exact: true }).fill('Second');
    await button(page, 'Create agent').click();
    await page.getByRole('heading', { level: 1, name: 'Second' }).waitFor();
    await visit(page, `/agents/new`);
    await page.getByLabel('Name', { exact: true }).fill('Third');
    await button(page, 'Discard').click();
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
  });

  detail('a message that was typed asks too', async () => {
    const agent = await newAgent(at(), { name: 'Helper', mode: 'conversational' });
    const { id } = await ok(at().api.post(`/agents/${agent.id}/conversations`, {}));
    const page = await at().open(`/agents/${agent.id}/conversations/${id}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('A long thought');
    await page.getByRole('link', { name: 'Status' }).click();
    const dialog = page.getByRole('dialog', { name: 'Discard changes' });
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('A long thought');
  });

  test('what was typed stays when the session ends: sign-in is over the page', async () => {
    const page = await at().open('/agents/new');
    expectFault(page, /401/);
    await page.getByLabel('Name', { exact: true }).fill('Survivor');
    const headers = { origin: at().test.origin };
    await page.context().request.post(`${at().test.origin}/app/api/sign-out`, { headers });
    await button(page, 'Create agent').click();
    const dialog = page.getByRole('dialog', { name: 'Sign in' });
    await dialog.getByText('What you typed on this page is still here').waitFor();
    await expectAccessible(page, wide);
    await page.keyboard.press('Escape');
    await dialog.getByLabel('API key', { exact: true }).fill(await at().keyOf('admin'));
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Survivor');
    await button(page, 'Create agent').click();
    await page.getByRole('heading', { level: 1, name: 'Survivor' }).waitFor();
  });

  detail('an address that the API refuses offers to clear the filters, not to try again', async () => {
    const page = await at().open('/audit?from=nonsense');
    expectFault(page, /400|422/);
    await button(page, 'Clear filters')
      .or(page.getByRole('link', { name: 'Clear filters' }))
      .click();
    await page.getByRole('table', { name: 'Audit' }).waitFor();
    expect(await button(page, 'Try again').count()).toBe(0);
  });

  detail('an address with values that no page knows shows the page without them', async () => {
    for (const [path, heading] of [
      ['/schedules?view=xx&state=foo&sort=zz&from=garbage', 'Schedules'],
      ['/schedules?view=timeline&from=garbage', 'Schedules'],
      ['/work-items?status=FOO&sort=bar&created_from=garbage&finished_to=2026-13-45', 'Work Items'],
    ] as const) {
      const page = await at().open(path);
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      await page
        .getByRole('radio', { name: 'List' })
        .or(page.getByRole('button', { name: 'Live' }))
        .waitFor();
    }
  });

  detail(
    'a part of an older version is loaded again once, and then the page says that a newer one is here',
    async () => {
      const page = await at().open('/status');
      expectFault(page, /404|console |exception /);
      await page.getByRole('heading', { level: 1, name: 'Status' }).waitFor();
      let loads = 0;
      page.on('load', () => loads++);
      await page.route('**/assets/AgentsPage-*', (route) => route.fulfill({ status: 404, body: '' }));
      await page.getByRole('link', { name: 'Agents', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'A newer version is here' }).waitFor();
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
      expect(loads).toBeGreaterThanOrEqual(1);
      expect(loads).toBeLessThanOrEqual(2);
      await expectAccessible(page, wide);
      await page.unroute('**/assets/AgentsPage-*');
      await button(page, 'Reload').click();
      await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    },
  );
});
