import { expect, test } from 'vitest';
import { newAgent, newSchedule, ok } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('changing and deleting Work Items', (at) => {
  test('a draft is edited, submitted for later, cancelled and deleted', async () => {
    const { api } = at();
    const agent = await newAgent(at(), { name: 'Clerk' });
    const draft = await ok(api.post('/work-items', { agent_id: agent.id, message: 'old', draft: true }));
    const page = await at().open(`/work-items/${draft.id}`);
    await page.getByRole('button', { name: 'Edit draft' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit draft' });
    await dialog.getByLabel('Message').fill('new');
    await dialog.getByLabel('Start').fill('2027-06-01T08:00');
    await dialog.getByRole('button', { name: 'Edit draft' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await ok(api.get(`/work-items/${draft.id}`))).toMatchObject({
      message: 'new',
      start_at: expect.stringMatching(/^2027-0[56]-/),
    });
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByText('It starts').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete Work Item' }).click();
    await page.waitForURL(/\/work-items$/);
    expect((await api.get(`/work-items/${draft.id}`)).status).toBe(404);
  });

  test('a schedule is run once at a time, and says what happens on an overlap', async () => {
    const { api } = at();
    const agent = await newAgent(at(), { name: 'Night' });
    const body = { cron_expression: '0 3 * * *', overlap: 'skip' };
    const schedule = await newSchedule(at(), agent.id, body);
    const page = await at().open(`/agents/${agent.id}/schedules/${schedule.id}`);
    await page.getByText('Skip that run').waitFor();
    await page.getByRole('button', { name: 'Run once at …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Run once at a time' });
    await dialog.getByLabel('When').fill('2027-06-01T08:00');
    await dialog.getByRole('button', { name: 'Run once at a time' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const { records } = await ok(api.get(`/work-items?schedule_id=${schedule.id}`));
    expect(records[0]).toMatchObject({ status: 'PENDING', start_at: expect.stringMatching(/^2027/) });
  });
});
