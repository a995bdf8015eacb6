import { expect, test } from 'vitest';
import { newAgent, newSchedule, ok } from '../contract/fixture.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail } from './fixture.ts';

describeInBrowser('the form of a schedule', (at) => {
  const scheduleIn = (url: string) => new URL(url).pathname;

  test('a schedule is chosen without a cron expression, previewed in both zones, and opens again as it was chosen', async () => {
    const agent = await newAgent(at(), { name: 'Ledger' });
    const page = await at().open('/schedules/new', { zone: 'America/New_York' });
    await page.getByLabel('Agent', { exact: true }).click();
    await page.getByRole('option', { name: 'Ledger' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Nightly close');
    await page.getByRole('radio', { name: 'Weekly' }).check();
    await page.getByLabel('Time', { exact: true }).fill('230');
    await page.getByRole('checkbox', { name: 'Friday' }).uncheck();
    await page.getByLabel('Time zone', { exact: true }).fill('berlin');
    await page.getByRole('option', { name: 'Europe/Berlin' }).click();
    await page.getByLabel('Message', { exact: true }).fill('Close the day.');
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('At 02:30, Monday through Thursday').waitFor();
    await preview.getByText('30 2 * * 1-4').waitFor();
    await preview.getByText('4 runs a week').waitFor();
    expect(await preview.getByRole('columnheader').allTextContents()).toEqual(['Berlin', 'You (New York)']);
    expect(await preview.getByRole('row').count()).toBe(11);
    await expectAccessible(page);
    // What is too long is refused in words, and never cut.
    expectFault(page, /^422 POST .*\/schedules$/);
    expectFault(page, /^console .*422/);
    await page.getByLabel('Message', { exact: true }).fill('x'.repeat(10_001));
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('must have at most 10,000 characters').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Close the day.');
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByRole('heading', { level: 1, name: 'Nightly close' }).waitFor();
    expect(scheduleIn(page.url())).toMatch(new RegExp(`^/agents/${agent.id}/schedules/`));
    const { data } = await ok(at().api.get(`/agents/${agent.id}/schedules`));
    expect(data[0]).toMatchObject({
      work_item_name: 'Nightly close',
      cron_expression: '30 2 * * 1-4',
      timezone: 'Europe/Berlin',
      message: 'Close the day.',
      metadata: { picker: { v: 1, kind: 'weekly', time: '02:30', days: ['1', '2', '3', '4'] } },
    });

    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('heading', { level: 1, name: 'Edit schedule' }).waitFor();
    expect(await page.getByRole('radio', { name: 'Weekly' }).isChecked()).toBe(true);
    expect(await page.getByLabel('Time', { exact: true }).inputValue()).toBe('02:30');
  });

  detail(
    'a refused expression says what to write instead, and what is missing is said at its field',
    async () => {
      await newAgent(at());
      const page = await at().open('/schedules/new');
      expectFault(page, /^400 POST .*\/preview$/);
      expectFault(page, /^console .*400/);
      await page.getByRole('radio', { name: 'Cron expression' }).check();
      const field = page.getByRole('textbox', { name: 'Cron expression' });
      await field.fill('@daily');
      const preview = page.getByRole('region', { name: 'Preview' });
      await preview.getByText('These times are not accepted.').waitFor();
      await expectAccessible(page, wide);
      await preview.getByRole('button', { name: 'Use 0 0 * * *' }).click();
      expect(await field.inputValue()).toBe('0 0 * * *');
      await preview.getByText('At 00:00').waitFor();

      await page.getByRole('radio', { name: 'Daily' }).check();
      await page.getByLabel('Time', { exact: true }).fill('25:00');
      await page.getByRole('button', { name: 'Create schedule' }).click();
      await page.getByText('Write hours and minutes, such as 02:30.').waitFor();
      await page.getByText('Choose the agent that runs.').waitFor();
    },
  );

  detail('a change of someone else is shown next to one’s own, and either can stay', async () => {
    const agent = await newAgent(at());
    const metadata = { team: 'night', picker: { v: 1, kind: 'daily', time: '02:00' } };
    const definition = { cron_expression: '0 2 * * *', work_item_name: 'Backup', metadata };
    const { id } = await newSchedule(at(), agent.id, definition);
    const path = `/agents/${agent.id}/schedules/${id}`;
    const page = await at().open(`${path}/edit`);
    expectFault(page, /412/);
    await page.getByLabel('Name', { exact: true }).fill('Backup check');
    await ok(at().api.put(path, { ...definition, cron_expression: '0 3 * * *' }));
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: /Someone else changed this/ });
    await dialog.getByText('0 3 * * *').waitFor();
    await expectAccessible(page, phone);
    await dialog.getByRole('button', { name: 'Keep theirs' }).click();
    await page.getByText('Changed outside the picker').waitFor();
    expect(await page.getByRole('textbox', { name: 'Cron expression' }).inputValue()).toBe('0 3 * * *');

    await page.getByLabel('Name', { exact: true }).fill('Mine');
    await ok(at().api.put(path, { ...definition, cron_expression: '0 4 * * *' }));
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Write mine' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    // Other keys of the metadata are sent back as they were.
    expect(await ok(at().api.get(path))).toMatchObject({
      cron_expression: '0 3 * * *',
      metadata: { team: 'night', picker: { v: 1, kind: 'expression' } },
    });
  });

  detail('it is made and run at once, like another one', async () => {
    const agent = await newAgent(at());
    const { id } = await newSchedule(at(), agent.id, {
      cron_expression: '0 2 1 * *',
      work_item_name: 'Month',
    });
    const page = await at().open(`/schedules/new?copy=${id}`);
    const name = page.getByLabel('Name', { exact: true });
    await expect.poll(() => name.inputValue()).toBe('Month (copy)');
    await page.getByRole('button', { name: 'Create and run now' }).click();
    await page.waitForURL(/\/work-items\//);
    const { data } = await ok(at().api.get(`/agents/${agent.id}/schedules`));
    expect(data.map(({ work_item_name }: { work_item_name: string }) => work_item_name).sort()).toEqual([
      'Month',
      'Month (copy)',
    ]);
  });

  detail('a member is told which role it needs', async () => {
    const page = await at().open('/schedules/new', { as: 'member' });
    await page.getByText(/requires the role builder/).waitFor();
  });
});
