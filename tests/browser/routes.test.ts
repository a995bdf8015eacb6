import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { expectAccessible, looks, phone } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser } from './fixture.ts';

describeInBrowser('routes', (at) => {
  const newChannel = (name: string) =>
    ok(at().api.post('/channels', { kind: 'webhook', name, url: 'http://127.0.0.1:2/hook' }));

  test('a route of reviews is made, changed, turned off and deleted', async () => {
    await newAgent(at(), { name: 'Clerk' });
    await newChannel('Finance');
    const page = await at().open('/routes');
    await page.getByText('No route yet').waitFor();
    await page.getByRole('link', { name: 'New route' }).click();
    await page.getByRole('heading', { level: 1, name: 'New route' }).waitFor();
    await page.getByLabel('Name').fill('Large payments');
    await page.getByRole('combobox', { name: 'Agents' }).click();
    await page.getByRole('option', { name: 'Clerk' }).click();
    await page.keyboard.press('Escape');
    await page.getByLabel('Tools').fill('bank__*');
    const conditions = page.getByRole('region', { name: 'Conditions' });
    await conditions.getByRole('button', { name: 'Add condition' }).click();
    await conditions.getByLabel('Path').fill('amount');
    await conditions.getByLabel('Op', { exact: true }).click();
    await page.getByRole('option', { name: /is more than/ }).click();
    await conditions.getByLabel('Value').fill('1000');
    const steps = page.getByRole('region', { name: 'Steps' });
    await steps.getByLabel('Channel', { exact: true }).click();
    await page.getByRole('option', { name: /Finance/ }).click();
    await page.getByLabel('Who decides', { exact: true }).click();
    await page.getByRole('option', { name: 'Admins' }).click();
    expectFault(page, /422/);
    await page.getByRole('button', { name: 'Create route' }).click();
    await conditions.getByRole('textbox', { name: 'Path', description: /must be a JSON Pointer/ }).waitFor();
    await expectAccessible(page, looks);
    await conditions.getByLabel('Path').fill('/amount');
    await steps.getByRole('button', { name: 'Add step' }).click();
    const second = steps.getByRole('group', { name: 'Step 2' });
    await second.getByLabel('Channel', { exact: true }).click();
    await page.getByRole('option', { name: /Finance/ }).click();
    await second.getByLabel('After (minutes)').fill('30');
    await page.getByRole('button', { name: 'Create route' }).click();
    await page.getByRole('heading', { level: 1, name: 'Large payments' }).waitFor();
    const [route] = (await ok(at().api.get('/routes'))).data;
    expect(route).toMatchObject({
      for: 'reviews',
      enabled: true,
      decide_role: 'admin',
      match: {
        sources: ['work_item'],
        tools: ['bank__*'],
        conditions: [{ path: '/amount', op: 'gt', value: 1000 }],
      },
      steps: [
        { to: 'channel', after_minutes: 0 },
        { to: 'channel', after_minutes: 30 },
      ],
    });

    await page.getByLabel('Position').fill('5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Route saved').waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(await ok(at().api.get(`/routes/${route.id}`))).toMatchObject({ position: 5, enabled: false });
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No route yet').waitFor();
  });

  test('a route of alerts goes to people', async () => {
    const smtp = { kind: 'email', name: 'Mail', smtp_url: 'smtp://127.0.0.1:2', from: 'a@example.com' };
    await ok(at().api.post('/channels', { ...smtp, tls: 'none' }));
    const page = await at().open('/routes/new', { width: 360, scheme: 'dark' });
    await page.getByLabel('For', { exact: true }).click();
    await page.getByRole('option', { name: 'Alerts' }).click();
    expect(await page.getByRole('region', { name: 'Conditions' }).count()).toBe(0);
    await page.getByLabel('Name').fill('Night duty');
    await page.getByLabel('Severities', { exact: true }).click();
    await page.getByRole('option', { name: 'Error' }).click();
    await page.keyboard.press('Escape');
    const steps = page.getByRole('region', { name: 'Steps' });
    await steps.getByLabel('Channel', { exact: true }).click();
    await page.getByRole('option', { name: /Mail/ }).click();
    await steps.getByLabel('To', { exact: true }).click();
    await page.getByRole('option', { name: 'Named people' }).click();
    await steps.getByLabel('Users', { exact: true }).waitFor();
    await steps.getByLabel('To', { exact: true }).click();
    await page.getByRole('option', { name: 'People with a role' }).click();
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Create route' }).click();
    await page.getByRole('heading', { level: 1, name: 'Night duty' }).waitFor();
    const { data } = await ok(at().api.get('/routes'));
    expect(data).toMatchObject([
      { for: 'alerts', match: { severities: ['error'] }, steps: [{ to: { role: 'admin' } }] },
    ]);
    await page.goto(`${at().test.origin}/routes`);
    await page.getByRole('link', { name: 'Night duty' }).waitFor();
    await page.getByText('Mail').waitFor();
    await expectAccessible(page, looks);
  });

  test('a builder reads routes, and changes none', async () => {
    const channel = await newChannel('Duty');
    const steps = [{ channel_id: channel.id, to: 'channel' }];
    const route = await ok(at().api.post('/routes', { for: 'reviews', name: 'All', steps }));
    const page = await at().open(`/routes/${route.id}`, { as: 'builder' });
    await page.getByRole('heading', { level: 1, name: 'All' }).waitFor();
    expect(await page.getByRole('button', { name: 'Save' }).getAttribute('aria-disabled')).toBe('true');
  });
});
