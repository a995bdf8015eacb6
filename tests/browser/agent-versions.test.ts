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
    await changes.getByRole('row', { name: 'instructions − one + two' }).waitFor();
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

  test('a gate is set, blocks a worse draft with its failing cases, and an admin publishes all the same', async () => {
    const { id } = await newAgent(at(), {
      name: 'Gated clerk',
      release: 'manual',
      settings: { max_attempts: 1 },
    });
    const graders = [{ type: 'contains', values: ['480'] }];
    const dataset = await ok(at().api.post('/datasets', { name: 'Sums', graders }));
    const payload = { mock: { steps: [{ tool: 'current_time' }, { text: 'It is 480.' }] } };
    const lines = Array.from({ length: 20 }, (_, i) =>
      JSON.stringify({ name: `Sum ${i + 1}`, input: { message: 'How much?', payload } }),
    );
    await ok(at().api.post(`/datasets/${dataset.id}/import`, { content: lines.join('\n') }));
    const page = await at().open(`/agents/${id}?tab=versions`);
    const gate = page.getByRole('region', { name: 'Gate' });
    await gate.getByRole('combobox', { name: 'Dataset' }).click();
    await page.getByRole('option', { name: 'Sums' }).click();
    await gate.getByLabel('Trials').fill('1');
    await gate.getByLabel('Largest drop').fill('0.05');
    await gate.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Release saved').waitFor();
    const saved = await ok(at().api.get(`/agents/${id}`));
    expect(saved.gate).toMatchObject({ dataset_id: dataset.id, trials: 1, max_drop: 0.05, confidence: 0.95 });

    // One model call is too few for these cases.
    await ok(at().api.patch(`/agents/${id}`, { settings: { max_steps: 1 } }));
    await page.reload();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Publish' });
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
    await dialog.getByText(/^\d+ of \d+ trials$/).waitFor();
    await dialog.getByText('Blocked: 100 → 0 points').waitFor();
    await dialog
      .getByRole('region', { name: 'Failing cases' })
      .getByRole('link', { name: 'Sum 1', exact: true })
      .waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Reason to override').fill('It is urgent.');
    await dialog.getByRole('button', { name: 'Publish anyway' }).click();
    await page.getByText(/^Version 2 runs since/).waitFor();
    const { data } = await ok(at().api.get(`/agents/${id}/publications`));
    expect(data[0]).toMatchObject({ state: 'published', overridden: true, reason: 'It is urgent.' });
  });
});
