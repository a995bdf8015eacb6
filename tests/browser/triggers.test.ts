import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { eventsOf, itemsOf, newHook, newTrigger, post, send, signed } from '../contract/triggers-fixture.ts';
import { expectAccessible, phone } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail } from './fixture.ts';

describeInBrowser('triggers', (at) => {
  test('a webhook is made, its secret is shown once, its events are tried, and its filter is changed', async () => {
    const agent = await newAgent(at(), { name: 'Support', execution: 'external' });
    const page = await at().open('/triggers');
    await page.getByText('A trigger starts an agent when something happens').waitFor();
    await page.getByRole('link', { name: 'New trigger' }).click();
    await page.getByRole('heading', { level: 1, name: 'New trigger' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Orders');
    await page.getByLabel('Message', { exact: true }).fill('Look at {{ event.body.title }}.');
    const tryIt = page.getByRole('region', { name: 'Try it' });
    await tryIt.getByText('Look at Order 42.').waitFor();
    await expectAccessible(page);

    // An expression that is wrong says so while it is typed, and at its field, with the column.
    expectFault(page, /^422 POST /);
    expectFault(page, /^console .*422/);
    const filter = page.getByLabel('Filter', { exact: true });
    await filter.fill('event.body.total > ');
    await tryIt.getByText(/^Filter: .*\(column \d+\)/).waitFor();
    await page.getByRole('button', { name: 'Create trigger' }).click();
    await expect.poll(() => filter.getAttribute('aria-invalid')).toBe('true');
    await filter.fill('event.body.total > 10.0');
    await page.getByRole('button', { name: 'Create trigger' }).click();

    const dialog = page.getByRole('dialog', { name: 'Create trigger' });
    const secret = await dialog.getByLabel('Secret', { exact: true }).inputValue();
    expect(secret).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'Copy secret' }).waitFor();
    await dialog.getByRole('button', { name: 'Copy address' }).waitFor();
    const url = await dialog.getByLabel('Address', { exact: true }).inputValue();
    expect(await dialog.locator('pre').textContent()).toContain(url);
    await expectAccessible(page, phone);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const [trigger] = (await ok(at().api.get(`/agents/${agent.id}/triggers`))).data;
    expect(trigger).toMatchObject({ name: 'Orders', url, filter: 'event.body.total > 10.0', dedup: null });

    for (const total of [99.5, 5]) {
      const body = JSON.stringify({ title: `Order of ${total}`, total });
      await ok(post(url, body, signed(secret, body)), 202);
    }
    expect((await eventsOf(at(), trigger)).map(({ outcome }) => outcome)).toEqual(['filtered', 'fired']);
    expect(await itemsOf(at(), trigger)).toHaveLength(1);

    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Edit trigger' }).waitFor();
    await tryIt.getByText('Would be filtered').waitFor();
    await tryIt.getByText('1 of the last 2 kept deliveries would start one.').waitFor();
    await filter.fill('event.body.total > 1.0');
    await tryIt.getByText('Would start').waitFor();
    await tryIt.getByText('Look at Order of 5.').waitFor();
    await tryIt.getByLabel('Event', { exact: true }).click();
    await page.getByRole('option', { name: 'Sample' }).click();
    await tryIt.getByLabel('Sample', { exact: true }).fill('{"title": "Nothing", "total": 0}');
    await tryIt.getByText('Would be filtered').waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    expect(await ok(at().api.get(`/agents/${agent.id}/triggers/${trigger.id}`))).toMatchObject({
      filter: 'event.body.total > 1.0',
      mapping: { message: 'Look at {{ event.body.title }}.', work_item_name: null, payload: null },
      secret_set: true,
    });
  });

  test('the list says what the last event became; a trigger is paused, resumed and deleted there', async () => {
    const trigger = await newHook(at(), { name: 'Invoices', filter: 'event.body.paid' });
    await newTrigger(at(), trigger.agent_id, { name: 'Other', settings: { scheme: 'github' } });
    await send(trigger, { paid: true });
    await send(trigger, {});
    const page = await at().open('/triggers?q=invoices');
    const row = page.getByRole('row', { name: /Invoices/ });
    await row.getByText('Filtered', { exact: true }).waitFor();
    await row.getByText('no field “paid”').waitFor();
    await row.getByText('1 fired').waitFor();
    expect(await page.getByRole('row', { name: /Other/ }).count()).toBe(0);
    await expectAccessible(page);

    const choose = async (entry: string) => {
      await row.getByRole('button', { name: /Invoices/ }).click();
      await page.getByRole('menuitem', { name: entry }).click();
    };
    await choose('Pause');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('until the new prices');
    await dialog.getByRole('button', { name: 'Pause trigger' }).click();
    await row.getByText('Paused', { exact: true }).waitFor();
    await choose('Resume');
    await row.getByText('Receives').waitFor();
    await choose('Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete trigger' }).click();
    await page.getByText('No triggers match').waitFor();

    await page.goto(`${at().test.origin}/agents/${trigger.agent_id}?tab=triggers`);
    await page.getByRole('row', { name: /Other/ }).getByText('GitHub').waitFor();
    await expectAccessible(page, phone);
  });

  detail('each kind has its fields, and what is missing is said at its field', async () => {
    const agent = await newAgent(at(), { name: 'Clerk' });
    const page = await at().open(`/triggers/new?agent=${agent.id}`);
    expectFault(page, /^4(00|22) POST /);
    expectFault(page, /^console .*4(00|22)/);
    const choose = async (field: string, option: string) => {
      await page.getByLabel(field, { exact: true }).click();
      await page.getByRole('option', { name: option, exact: true }).click();
    };
    const create = page.getByRole('button', { name: 'Create trigger' });
    await page.getByLabel('Name', { exact: true }).fill('Paid');
    await choose('Scheme', 'Stripe');
    await create.click();
    await page.getByText(/stripe makes it/).waitFor();
    await choose('Kind', 'Kafka');
    for (const field of ['Connection', 'Topic', 'Consumer group', 'Start'])
      await page.getByLabel(field, { exact: true }).waitFor();
    await choose('Kind', 'NATS JetStream');
    for (const field of ['Connection', 'Stream', 'Subjects', 'Start'])
      await page.getByLabel(field, { exact: true }).waitFor();
    await choose('Kind', 'Work Item');
    await page.getByLabel('Events a minute').fill('60');
    await choose('Over the limit', 'Skip');
    await create.click();
    await page.getByRole('heading', { level: 1, name: 'Paid' }).waitFor();
    const { data } = await ok(at().api.get(`/agents/${agent.id}/triggers`));
    expect(data[0]).toMatchObject({
      kind: 'work_item',
      settings: { agent_id: null, statuses: ['COMPLETED'] },
      rate_limit: { per_minute: 60, over: 'skip' },
    });
  });

  detail('a change of someone else is shown next to one’s own', async () => {
    const trigger = await newHook(at(), { name: 'Mine' });
    const path = `/agents/${trigger.agent_id}/triggers/${trigger.id}`;
    const page = await at().open(`${path}/edit`);
    expectFault(page, /412/);
    await page.getByLabel('Name', { exact: true }).fill('Mine, changed');
    const theirs = { name: 'Theirs', kind: 'webhook', settings: { scheme: 'standard_webhooks' } };
    await ok(at().api.put(path, { ...theirs, filter: 'event.body.paid' }));
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: /Someone else changed this/ });
    await dialog.getByText('event.body.paid').waitFor();
    await dialog.getByRole('button', { name: 'Write mine' }).click();
    await page.getByRole('heading', { level: 1, name: 'Mine, changed' }).waitFor();
    expect(await ok(at().api.get(path))).toMatchObject({ name: 'Mine, changed', filter: null });
  });
});
