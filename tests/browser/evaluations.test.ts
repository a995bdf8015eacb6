import { expect, test } from 'vitest';
import { ok } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { type Evaluated, makeEvaluated } from './evaluations-fixture.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('evaluations', (at) => {
  let made: Promise<Evaluated> | undefined;
  const evaluated = (): Promise<Evaluated> => {
    made ??= makeEvaluated(at());
    return made;
  };

  test('a dataset is made, a file is previewed and imported, a result is edited, and an experiment runs', async () => {
    const { agent, dataset, recorded } = await evaluated();
    const page = await at().open('/evaluations', { as: 'builder' });
    const dialog = (name: string) => page.getByRole('dialog', { name });
    await page.getByRole('button', { name: 'New dataset' }).click();
    await dialog('New dataset').getByLabel('Name').fill('Questions');
    await dialog('New dataset').getByRole('button', { name: 'Create dataset' }).click();
    await page.getByRole('heading', { level: 1, name: 'Questions' }).waitFor();

    await page.getByRole('button', { name: 'Import cases' }).click();
    const buffer = Buffer.from(
      '{"input": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Is it due?"}], "ideal": "no"}\n',
    );
    await dialog('Import cases').getByLabel('File').setInputFiles({ name: 'a.jsonl', mimeType: '', buffer });
    await dialog('Import cases').getByText('1 new, 0 changed and 0 unchanged.').waitFor();
    await dialog('Import cases').getByText('1 warning').waitFor();
    await expectAccessible(page);
    await dialog('Import cases').getByRole('button', { name: 'Import cases' }).click();
    await page.getByRole('cell', { name: /Is it due\?/ }).waitFor();

    await page.goto(`${at().test.origin}/evaluations/datasets/${dataset.id}/cases/${recorded.id}`);
    const recording = page.getByRole('region', { name: 'Recording' });
    await recording.getByRole('button', { name: 'Edit result' }).click();
    await dialog('Edit result').getByLabel('Result').fill('{"total": 960}');
    await dialog('Edit result').getByRole('button', { name: 'Change result' }).click();
    await page.getByRole('region', { name: 'Expected' }).getByRole('textbox').fill('960 EUR');
    await page.getByLabel('Tags').fill('due, paid');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Case saved').waitFor();
    const saved = await ok(at().api.get(`/datasets/${dataset.id}/cases/${recorded.id}`));
    expect(saved).toMatchObject({ expected: '960 EUR', tags: ['due', 'paid'] });
    expect(JSON.stringify(saved.tape)).toContain('960}');

    await page.goto(`${at().test.origin}/evaluations/datasets/${dataset.id}`);
    await page.getByRole('button', { name: 'Run experiment' }).click();
    const run = dialog('Run experiment');
    await run.getByRole('combobox', { name: 'Agent' }).click();
    await page.getByRole('option', { name: agent.name }).click();
    await run.getByRole('button', { name: 'Start experiment' }).click();
    await page.getByRole('heading', { level: 1, name: 'Invoice clerk version 2 on Invoices' }).waitFor();
    await expect
      .poll(() => page.getByRole('progressbar', { name: 'Trials' }).getAttribute('aria-valuetext'))
      .toBe('2 of 2 trials');
    await page
      .getByRole('region', { name: 'Scores' })
      .getByRole('row', { name: /names the sum/ })
      .waitFor();
  });

  test('a divergence stands between the recording and the trial, and a drop leads to both transcripts', async () => {
    const { before, after, recorded } = await evaluated();
    const page = await at().open(`/evaluations/experiments/${after.id}`, { as: 'builder' });
    await page.getByRole('button', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Diverged' }).click();
    await expect.poll(() => page.getByRole('link', { name: /^Not passed/ }).count()).toBe(0);
    await page.getByRole('link', { name: /^Diverged: .*, trial 1$/ }).click();
    const trial = page.getByRole('region', { name: 'Trial', exact: true });
    await trial.getByText('This call is not on the recording.').waitFor();
    await trial.getByRole('row', { name: 'invoice 2026-0117 2026-0118' }).waitFor();
    await page
      .getByRole('region', { name: 'Recorded' })
      .getByRole('button', { name: /^ledger__look_up/ })
      .waitFor();
    await expectAccessible(page);

    await page.goto(`${at().test.origin}/evaluations/compare?a=${before.id}&b=${after.id}`);
    await page.getByText('Over 2 cases the score went from 50 to 0 points: a drop of 50.').waitFor();
    // The keys move through the list, once it is there.
    await page.getByText('Nothing is due').waitFor();
    await page.keyboard.press('j');
    await page
      .getByRole('region', { name: 'Before' })
      .getByRole('button', { name: /^ledger__look_up/ })
      .waitFor();
    expect(new URL(page.url()).searchParams.get('case')).toBe(recorded.id);
    await page.keyboard.press('j');
    await page.getByRole('heading', { level: 2, name: 'Nothing is due' }).waitFor();
    await expectAccessible(page);
  });

  test('trials are labelled with the keyboard alone, and a label is taken back', async () => {
    const { before } = await evaluated();
    const page = await at().open(`/evaluations/label?experiment=${before.id}&grader=polite`, {
      as: 'builder',
    });
    const labels = async () => {
      const { data } = await ok(at().api.get(`/experiments/${before.id}/trials`));
      return data.flatMap((trial: { labels: { verdict: string; comment: string | null }[] }) => trial.labels);
    };
    await page.getByText('Is it polite?').waitFor();
    await page.getByText('1 of 4').waitFor();
    await page.getByLabel('Comment').fill('It is short.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('f');
    await page.getByText('2 of 4').waitFor();
    await page.getByText(/you said fail/).waitFor();
    expect(await labels()).toMatchObject([{ verdict: 'fail', comment: 'It is short.' }]);
    await page.keyboard.press('u');
    await page.getByText('1 of 4').waitFor();
    expect(await labels()).toEqual([]);
    await page.keyboard.press('s');
    await page.getByText('2 of 4').waitFor();
    await page.getByRole('region', { name: 'Conversation' }).waitFor();
    await page.keyboard.press('p');
    await page.getByText('3 of 4').waitFor();
    expect(await labels()).toMatchObject([{ verdict: 'pass' }]);
  });

  test('a finished Work Item becomes a case of a new dataset', async () => {
    const { item } = await evaluated();
    const page = await at().open(`/work-items/${item.id}`, { as: 'builder' });
    await page.getByText('Version', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Make a case' }).click();
    const dialog = page.getByRole('dialog', { name: 'Make a case' });
    await dialog.getByRole('combobox', { name: 'Dataset' }).click();
    await page.getByRole('option', { name: 'New dataset' }).click();
    await dialog.getByLabel('Name of the dataset').fill('Of runs');
    await dialog.getByLabel('Name', { exact: true }).fill('The first');
    await dialog.getByLabel('Expected').fill('{"total": 480}');
    await dialog.getByLabel('Tags').fill('due');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Create case' }).click();
    await dialog.getByRole('link', { name: 'Open case' }).click();
    await page.getByRole('heading', { level: 1, name: 'The first' }).waitFor();
    await page.getByRole('region', { name: 'Recording' }).getByText('Edit result').waitFor();
    await page.getByRole('link', { name: 'Of runs' }).click();
    await page.getByRole('row', { name: /The first.*480.*due/ }).waitFor();
  });
});
