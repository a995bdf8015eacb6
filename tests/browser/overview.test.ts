import { expect, test } from 'vitest';
import { expectAccessible } from './accessibility.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('the first screen', (at) => {
  test('leads from an empty installation to a completed Work Item with one click', async () => {
    const page = await at().open('/');
    await page.getByRole('region', { name: 'Set-up' }).waitFor();
    await expectAccessible(page);
    const example = page.getByRole('button', { name: 'Try it: example agent' });
    await example.focus();
    await page.keyboard.press('Enter');
    await page
      .getByText(/Completed/i)
      .first()
      .waitFor({ timeout: 20_000 });
    expect(new URL(page.url()).pathname).toMatch(/^\/work-items\//);
    await page.getByRole('link', { name: 'Overview', exact: true }).first().click();
    await page.getByRole('region', { name: 'Needs attention' }).waitFor();
    await page.getByRole('region', { name: 'Timeline' }).getByText('Example').first().waitFor();
    await page.getByRole('region', { name: 'Set-up' }).getByText('1 of 6').waitFor({ state: 'hidden' });
    await expectAccessible(page);
  });
});
