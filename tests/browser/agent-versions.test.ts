import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('versions of an agent', (at) => {
  test('a draft is compared, tried as a canary and published, and the version before comes back', async () => {
    const { id } = await newAgent(at(), { name: 'Night clerk', instructions: 'one', release: 'manual' });
    const read = () => ok(at().api.get(`/agents/${id}`));
    const page = await at().open(`/agents/${id}?tab=instructions`);
    await page.getByText('You edit the draft. Version 1 runs.').waitFor();
    await page.getByLabel('Instructions').fill('two');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Agent saved').waitFor();
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByText('The draft differs in 1 field.').waitFor();
    const changes = page.getByRole('region', { name: 'Changes' });
    await changes.getByRole('row', { name: 'instructions one two' }).waitFor();
    const act = async (name: string, fill: Record<string, string>, said: string) => {
      await page.getByRole('button', { name, exact: true }).click();
      const dialog = page.getByRole('dialog', { name, exact: true });
      for (const [label, text] of Object.entries(fill)) await dialog.getByLabel(label).fill(text);
      await dialog.getByRole('button', { name, exact: true }).click();
      await page.getByText(said).last().waitFor();
    };
    await act('Start canary', { Percent: '25', 'Abort at error rate': '20' }, 'Canary started');
    await page.getByText('Version 2 takes 25 % of what is claimed.').waitFor();
    await expectAccessible(page);
    expect((await read()).canary).toMatchObject({ percent: 25, rollback_when: { error_rate: 0.2 } });
    await act('Abort', {}, 'Canary aborted');
    await act('Publish', { Note: 'Shorter.' }, 'Published');
    await page.getByText(/^Version 2 runs since .* The draft is the same\.$/).waitFor();
    expect(await read()).toMatchObject({ version: 2, has_changes: false, canary: null });
    await page
      .getByRole('row', { name: /^Version 1/ })
      .getByRole('button')
      .click();
    await page.getByRole('menuitem', { name: 'Roll back' }).click();
    const dialog = page.getByRole('dialog', { name: 'Roll back' });
    await dialog.getByLabel('Reason').fill('Worse.');
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText(/^Version 1 runs since/).waitFor();
    expect(await read()).toMatchObject({ version: 1, instructions: 'two', has_changes: true });
  });
});
