import { expect, test } from 'vitest';
import { newChannel, newExternal } from '../contract/channels-fixture.ts';
import { newSchedule, ok } from '../contract/fixture.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, type InBrowser, visit } from './fixture.ts';

/** One Work Item of an external agent ends in ERROR. */
const failOne = async ({ api }: InBrowser, agentId: string): Promise<void> => {
  await ok(api.post('/work-items', { agent_id: agentId, message: 'Go' }));
  const [{ work_item, lease_token }] = (await ok(api.post('/work-items/claim', { agent_ids: [agentId] })))
    .records;
  const error = { code: 'out_of_order', message: 'The ledger is closed.' };
  await ok(api.post(`/work-items/${work_item.id}/finish`, { lease_token, outcome: 'ERROR', error }));
};

/** An agent fails, and its alert fires. */
const fire = async (at: InBrowser, agentId: string): Promise<void> => {
  await failOne(at, agentId);
  await until(async () => {
    // Another look may be in progress, which has not seen it.
    await at.test.platform.features.alerts.looks.run();
    return (await ok(at.api.get(`/alerts?state=firing&agent_id=${agentId}`))).data.length > 0;
  });
};

describeInBrowser('Alerts', (at) => {
  test('a rule is made, its alert fires and is acknowledged, and the rule mutes when it is off', async () => {
    const agent = await newExternal(at(), 'Night clerk');
    const hook = await newChannel(at(), 'webhook', { url: 'http://127.0.0.1:2/', enabled: false });
    const steps = [{ channel_id: hook.id, to: 'channel' }];
    await ok(at().api.post('/routes', { name: 'All alerts', for: 'alerts', steps }));

    const page = await at().open('/alerts');
    const choose = async (label: string, option: string) => {
      await page.getByRole('combobox', { name: label, exact: true }).click();
      await page.getByRole('option', { name: option, exact: true }).click();
    };
    await page.getByText('No alert fires.').waitFor();
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('row', { name: /^Failing agents.*Workspace.*On/ }).waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('link', { name: 'New alert rule' }).click();
    await page.getByRole('heading', { level: 1, name: 'New alert rule' }).waitFor();
    await page.getByLabel('Grace seconds', { exact: true }).waitFor();
    await choose('Kind', 'Budget');
    await page.getByRole('combobox', { name: 'Applies to' }).waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Percent', { exact: true }).inputValue()).toBe('80');
    await choose('Kind', 'Failing');
    await page.getByLabel('Name', { exact: true }).fill('Clerks fail');
    await choose('Applies to', 'Agent');
    expectFault(page, /422/);
    await page.getByRole('button', { name: 'Create alert rule' }).click();
    await page.getByText('Choose an agent.').waitFor();
    await choose('Agent', 'Night clerk');
    await page.getByLabel('Percent', { exact: true }).fill('50');
    await page.getByLabel('Failures', { exact: true }).waitFor({ state: 'hidden' });
    await page.getByLabel('At least', { exact: true }).waitFor();
    await page.getByLabel('Percent', { exact: true }).fill('');
    await page.getByLabel('Failures', { exact: true }).fill('2');
    await page.getByLabel('Of', { exact: true }).fill('1');
    await page.getByRole('button', { name: 'Create alert rule' }).click();
    await page.getByText('must not be more than').waitFor();
    await page.getByLabel('Failures', { exact: true }).fill('1');
    await page.getByLabel('Enabled', { exact: true }).uncheck();
    await page.getByText(/so it mutes: alerts of this kind do not fire for this agent/).waitFor();
    await page.getByLabel('Enabled', { exact: true }).check();
    await expectAccessible(page, wide);
    await page.getByRole('button', { name: 'Create alert rule' }).click();
    await page.getByRole('heading', { level: 1, name: 'Clerks fail' }).waitFor();
    await page.getByText('It has fired no alert yet.').waitFor();

    await fire(at(), agent.id);
    await page.goto(at().test.origin);
    await page.getByRole('link', { name: /^Open: 1 alert fires/ }).click();
    await page.waitForURL((url) => url.pathname === '/alerts');
    const navigation = page.getByRole('navigation', { name: 'Main' });
    await navigation.getByRole('link', { name: 'Alerts', description: '1 not acknowledged' }).waitFor();
    await page.getByRole('row', { name: /Failing: Night clerk.*Error.*Not acknowledged/ }).waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('row').getByRole('link').first().click();
    await page.getByText('The last Work Item ended in ERROR.').waitFor();
    const messages = page.getByRole('region', { name: 'Messages' });
    await messages.getByRole('row', { name: new RegExp(`${hook.name}.*the channel.*Waits`) }).waitFor();
    const link = page.getByRole('link', { name: 'Open agent' });
    expect(await link.getAttribute('href')).toBe(`/agents/${agent.id}`);
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    const dialog = page.getByRole('dialog', { name: 'Acknowledge' });
    await dialog.getByLabel('Note', { exact: true }).fill('The ledger opens at six.');
    await expectAccessible(page, phone);
    await dialog.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('Alert acknowledged').waitFor();
    await page.getByText('The ledger opens at six.').waitFor();
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor({ state: 'hidden' });
    await navigation.getByRole('link', { name: 'Alerts', description: '' }).waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Open rule' }).click();
    await page
      .getByRole('region', { name: 'Alerts' })
      .getByRole('row', { name: /Night clerk/ })
      .waitFor();
    const settings = page.getByRole('region', { name: 'Settings' });
    expect(await settings.getByRole('combobox', { name: 'Agent' }).inputValue()).toBe('Night clerk');
    await settings.getByLabel('Failures', { exact: true }).fill('2');
    await settings.getByLabel('Of', { exact: true }).fill('4');
    await settings.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Alert rule saved').waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('It is off and mutes alerts of its kind for this agent.').waitFor();
    await expectAccessible(page);
    await until(async () => {
      await at().test.platform.features.alerts.looks.run();
      return (await ok(at().api.get('/alerts?state=firing'))).data.length === 0;
    });
    await visit(page, '/alerts?tab=history');
    await page.getByRole('row', { name: /Failing: Night clerk/ }).waitFor();
    await visit(page, '/alerts?tab=rules');
    await page.getByRole('row', { name: /Clerks fail.*Agent.*Night clerk.*Mutes/ }).click();
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('Alert rule turned on').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete alert rule' }).click();
    await page.getByText('Alert rule deleted').waitFor();
    await page.getByRole('tab', { name: 'Rules', selected: true }).waitFor();
    const [rule] = (await ok(at().api.get('/alert-rules'))).data;
    expect(rule.name).not.toBe('Clerks fail');
  });

  detail(
    'a rule of a schedule keeps it, and a member sees alerts and which role the rest needs',
    async () => {
      const agent = await newExternal(at(), 'Day clerk');
      const schedule = await newSchedule(at(), agent.id, { work_item_name: 'Nightly' });
      const page = await at().open('/alert-rules/new');
      const choose = async (label: string, option: string | RegExp) => {
        await page.getByRole('combobox', { name: label, exact: true }).click();
        await page.getByRole('option', { name: option }).click();
      };
      await page.getByLabel('Name', { exact: true }).fill('Month end');
      await choose('Applies to', 'Schedule');
      await choose('Schedule', /^Nightly/);
      await page.getByLabel('Grace seconds', { exact: true }).fill('900');
      await page.getByRole('button', { name: 'Create alert rule' }).click();
      await page.getByRole('heading', { level: 1, name: 'Month end' }).waitFor();
      await page.getByRole('link', { name: 'Schedule Nightly' }).waitFor();
      const { data } = await ok(at().api.get('/alert-rules'));
      expect(data[0]).toMatchObject({ schedule_id: schedule.id, params: { grace_seconds: 900 } });
      await page.reload();
      await expect
        .poll(() => page.getByRole('combobox', { name: 'Schedule', exact: true }).inputValue())
        .toBe('Nightly');
      await choose('Applies to', 'Workspace');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Alert rule saved').waitFor();
      expect((await ok(at().api.get(`/alert-rules/${data[0].id}`))).schedule_id).toBeNull();

      await ok(
        at().api.post('/alert-rules', {
          name: 'F',
          kind: 'failing',
          params: { failures: 1, of: 1 },
          agent_id: agent.id,
        }),
      );
      await fire(at(), agent.id);
      const member = await at().open('/alerts', { as: 'member' });
      await member
        .getByRole('row', { name: /Failing: Day clerk/ })
        .getByRole('link')
        .first()
        .click();
      await member.getByRole('button', { name: 'Acknowledge' }).waitFor();
      await expectAccessible(member, wide);
      await visit(member, '/alerts?tab=rules');
      await member.getByText(/It requires the role builder/).waitFor();
    },
  );
});
