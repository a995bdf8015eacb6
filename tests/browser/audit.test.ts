import { expect, test } from 'vitest';
import { newAgent } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('audit log and status', (at) => {
  test('an entry is found by who, what and target, and the chain is verified', async () => {
    await newAgent(at(), { name: 'Night clerk' });
    const page = await at().open('/audit');
    await page
      .getByRole('row', { name: /agent\.create.*Night clerk/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/the chain is whole/).waitFor();
    await expectAccessible(page, [
      { scheme: 'light', width: 1280 },
      { scheme: 'dark', width: 360 },
    ]);
    await page.goto(`${at().test.origin}/audit?action=agent.delete`);
    await page.getByText(/No entries match/).waitFor();
  });

  test('the status names the replica and its roles', async () => {
    const page = await at().open('/status');
    await page.getByText('Alive').waitFor();
    expect(await page.getByRole('table').textContent()).toContain('scheduler');
    await expectAccessible(page, [
      { scheme: 'light', width: 1280 },
      { scheme: 'dark', width: 360 },
    ]);
  });
});
