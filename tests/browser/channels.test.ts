import { expect, test } from 'vitest';
import { newChannel, newExternal } from '../contract/channels-fixture.ts';
import { ok } from '../contract/fixture.ts';
import { startCallbackReceiver } from '../harness/callback-receiver.ts';
import { slackTokens, startSlack } from '../harness/slack.ts';
import { startSmtp } from '../harness/smtp.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail } from './fixture.ts';

describeInBrowser('Channels', (at) => {
  test('a channel is made and tested, and what fails is said; one that a route names stays', async () => {
    await using smtp = await startSmtp();
    const page = await at().open('/channels');
    const choose = async (label: string, option: string) => {
      await page.getByRole('combobox', { name: label, exact: true }).click();
      await page.getByRole('option', { name: option, exact: true }).click();
    };
    await page.getByText('There are no channels yet.').waitFor();
    expect(await page.getByRole('link', { name: 'Routes', exact: true }).getAttribute('href')).toBe(
      '/routes',
    );
    await expectAccessible(page, phone);
    await page.getByRole('link', { name: 'New channel' }).click();
    await page.getByRole('heading', { level: 1, name: 'New channel' }).waitFor();
    for (const label of ['Bot token', 'App token', 'Signing secret', 'Conversation', 'Decide in Slack'])
      await page.getByLabel(label, { exact: true }).waitFor();
    await expectAccessible(page, wide);
    await choose('Kind', 'PagerDuty');
    await page.getByLabel('Routing key', { exact: true }).waitFor();
    await choose('Kind', 'Microsoft Teams');
    expect(await page.getByLabel('Show arguments', { exact: true }).isChecked()).toBe(false);
    await choose('Kind', 'E-mail');
    expect(await page.getByLabel('Show arguments', { exact: true }).isChecked()).toBe(true);
    await page.getByLabel('Name', { exact: true }).fill('Duty mail');
    await page.getByLabel('SMTP address', { exact: true }).fill('http://mail.example.com');
    await page.getByLabel('From', { exact: true }).fill('Agents <agents@example.com>');
    await page.getByLabel('Recipients', { exact: true }).fill('ops@example.com\n\nboss@example.com');
    await choose('TLS', 'None');
    expectFault(page, /4\d\d/);
    await page.getByRole('button', { name: 'Create channel' }).click();
    await page.getByText(/must be smtp:\/\/ or smtps:\/\//).waitFor();
    await page.getByLabel('SMTP address', { exact: true }).fill(`smtp://127.0.0.1:${smtp.port}`);
    await page.getByRole('button', { name: 'Create channel' }).click();
    await page.getByRole('heading', { level: 1, name: 'Duty mail' }).waitFor();
    await page.getByText('Nothing was sent with these settings yet.').waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const result = page.getByRole('region', { name: 'Test result' });
    await result.getByText('The channel works.').waitFor();
    expect(await result.textContent()).toMatch(/Name look-up.*Connection.*Message/);
    expect(smtp.mails.map(({ to }) => to[0]).sort()).toEqual(['boss@example.com', 'ops@example.com']);
    await page.getByText(/It works\. Last success/).waitFor();
    await expectAccessible(page);

    smtp.refuseWith(550);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result.getByText('The test failed.').waitFor();
    await result.getByText(/refused the mail \(550\)/).waitFor();
    await page.getByText(/It fails: /).waitFor();
    await expectAccessible(page, phone);

    const settings = page.getByRole('region', { name: 'Settings' });
    expect(await settings.getByLabel('Recipients', { exact: true }).inputValue()).toBe(
      'ops@example.com\nboss@example.com',
    );
    await settings.getByLabel('Recipients', { exact: true }).fill('ops@example.com');
    await settings.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Channel saved').waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('It is off: messages wait.').waitFor();
    const [{ id, ...saved }] = (await ok(at().api.get('/channels'))).data;
    expect(saved).toMatchObject({ enabled: false, recipients: ['ops@example.com'], smtp_url_set: true });

    const steps = [{ channel_id: id, to: 'channel' }];
    const route = await ok(at().api.post('/routes', { name: 'All alerts', for: 'alerts', steps }));
    await page.reload();
    await page.getByRole('region', { name: 'Routes' }).getByRole('link', { name: 'All alerts' }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete channel' });
    await dialog.getByText('These routes name it').waitFor();
    await dialog.getByRole('button', { name: 'Delete channel' }).click();
    await dialog.getByText(/Routes use/).waitFor();
    await ok(at().api.delete(`/routes/${route.id}`), 204);
    await dialog.getByRole('button', { name: 'Delete channel' }).click();
    await page.getByText('Channel deleted').waitFor();
    await page.getByText('There are no channels yet.').waitFor();
  });

  detail('Slack over HTTP has its address, a webhook shows its secret once, and secrets stay', async () => {
    await using slack = await startSlack();
    await using receiver = await startCallbackReceiver();
    const page = await at().open('/channels/new');
    await page.getByLabel('Name', { exact: true }).fill('Finance');
    await page.getByLabel('Bot token', { exact: true }).fill(slackTokens.bot_token);
    await page.getByLabel('API URL', { exact: true }).fill(slack.url);
    expectFault(page, /4\d\d/);
    await page.getByRole('button', { name: 'Create channel' }).click();
    await page.getByText(/is required unless there is a/).waitFor();
    await page.getByLabel('Signing secret', { exact: true }).fill('s3cret');
    await page.getByRole('button', { name: 'Create channel' }).click();
    await page.getByRole('heading', { level: 1, name: 'Finance' }).waitFor();
    const [{ id }] = (await ok(at().api.get('/channels'))).data;
    await page.getByText(`${at().test.origin}/app/api/channels/${id}/slack`).waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page
      .getByRole('region', { name: 'Test result' })
      .getByText(/Scopes/)
      .waitFor();
    await expectAccessible(page);
    // The app token takes the place of the signing secret.
    const settings = page.getByRole('region', { name: 'Settings' });
    await settings.getByRole('button', { name: 'Replace' }).nth(1).click();
    await settings.getByLabel('App token', { exact: true }).fill(slackTokens.app_token);
    await settings.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Channel saved').waitFor();
    expect(await ok(at().api.get(`/channels/${id}`))).toMatchObject({
      app_token_set: true,
      signing_secret_set: false,
      bot_token_set: true,
      interactions_url: null,
    });
    await page.getByRole('region', { name: 'Clicks over HTTP' }).waitFor({ state: 'hidden' });

    await page.goto(`${at().test.origin}/channels/new`);
    await page.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'Webhook' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Duty');
    await page.getByLabel('URL', { exact: true }).fill(receiver.url);
    await page.getByRole('button', { name: 'Create channel' }).click();
    const made = page.getByRole('dialog', { name: 'Create channel' });
    expect(await made.getByLabel('Secret', { exact: true }).inputValue()).toMatch(/^whsec_/);
    await expectAccessible(page, wide);
    await made.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { level: 1, name: 'Duty' }).waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('The channel works.').waitFor();
    expect(receiver.requests[0]!.body.type).toBe('channel.test');
    await settings.getByLabel('URL', { exact: true }).fill(`${receiver.url}/moved`);
    await settings.getByRole('button', { name: 'Save' }).click();
    await settings.getByText('must be given again, because url changes').waitFor();
  });

  detail('the Overview leads to a channel that fails, and a builder reads channels', async () => {
    await newExternal(at());
    const { id } = await newChannel(at(), 'teams', { name: 'Teams', url: 'https://127.0.0.1:2/run?sig=x' });
    await ok(at().api.post(`/channels/${id}/test`));
    const page = await at().open('/', { as: 'builder' });
    await page.getByRole('link', { name: /^Open: The channel .*Teams.* is failing/ }).click();
    await page.getByText(/It fails: /).waitFor();
    await page.getByRole('button', { name: 'Replace' }).waitFor();
    await expectAccessible(page, wide);
    const row = await at().open('/channels', { as: 'builder' });
    await row.getByRole('row', { name: /Teams.*Microsoft Teams · 127\.0\.0\.1.*Fails/ }).waitFor();
    await expectAccessible(row, phone);
  });
});
