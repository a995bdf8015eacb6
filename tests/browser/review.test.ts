import { expect, test } from 'vitest';
import { newChannel, newExternal, newReview, newRoute } from '../contract/channels-fixture.ts';
import { ok } from '../contract/fixture.ts';
import { startCallbackReceiver } from '../harness/callback-receiver.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, looks, phone } from './accessibility.ts';
import { describeInBrowser, detail } from './fixture.ts';
import { call, playedAgent, text } from './work-items-fixture.ts';

describeInBrowser('Review', (at) => {
  test('nothing waits', async () => {
    const page = await at().open('/review');
    await page.getByText('Nothing waits for a person.').waitFor();
    await page.getByText(/needs_decision=true/).waitFor();
  });

  test('what waits is decided about one after the other, the longest wait first', async () => {
    const played = await playedAgent(at(), 'Invoices');
    const pay = { order: 7731, amount: '12480.00' };
    const approvals = [{ kind: 'tool_call', tool_name: 'ledger.pay', arguments: pay }];
    const paying = await played.asking(
      { work_item_name: 'Invoice 20417' },
      { reason: 'Pay 12,480.00 EUR to Nordwind?', approvals },
      [{ role: 'assistant', content: [text('It matches order 7731.'), call('c1', 'ledger.pay', pay)] }],
    );
    const asking = await played.asking(
      { work_item_name: 'Customer sweep' },
      { reason: 'Which address is right?' },
    );
    const two = await played.asking(
      { work_item_name: 'Two payments' },
      { reason: 'Pay both?', approvals: [...approvals, ...approvals] },
    );
    const page = await at().open('/review');
    await page.getByRole('heading', { level: 2, name: 'Pay 12,480.00 EUR to Nordwind?' }).waitFor();
    await expect.poll(() => page.title()).toMatch(/^\(3\) Review/);
    await page.getByText('3 Work Items wait for a person').waitFor();
    await page.getByText('It matches order 7731.').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByLabel('Message to the agent (optional)').fill('Wrong account.');
    await page.getByRole('button', { name: 'Deny' }).click();

    await page.getByRole('heading', { level: 2, name: 'Which address is right?' }).waitFor();
    await until(async () => (await played.statusOf(paying)) === 'PENDING', 5_000);
    await page.getByLabel('Message to the agent').fill('The second one.');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();

    await page.getByRole('heading', { level: 2, name: 'Pay both?' }).waitFor();
    await until(async () => (await played.statusOf(asking)) === 'PENDING', 5_000);
    const proceed = page.getByRole('button', { name: 'Continue', exact: true });
    expect(await proceed.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Approve' }).first().click();
    await page.getByRole('button', { name: 'Approve' }).first().click();
    await proceed.click();
    await page.getByText('Nothing waits for a person.').waitFor();
    expect(await played.statusOf(two)).toBe('PENDING');
  });

  test('says by when to decide, what follows otherwise, and who was notified', async () => {
    await using receiver = await startCallbackReceiver();
    const hook = await newChannel(at(), 'webhook', { name: 'Night desk', url: receiver.url });
    const lost = await newChannel(at(), 'webhook', { name: 'Old desk', url: `${receiver.url}/gone` });
    receiver.respondWith(({ path }) => (path === '/gone' ? 410 : 204));
    const agent = await newExternal(at(), 'Payer');
    const timeout = { approval_timeout_seconds: 14_400, approval_timeout_outcome: 'escalate' };
    await ok(at().api.patch(`/agents/${agent.id}`, timeout));
    const steps = [hook, lost].map(({ id }) => ({ channel_id: id, to: 'channel' }));
    const route = await newRoute(at(), agent.id, steps);
    const pay = { kind: 'tool_call', tool_name: 'ledger.pay', arguments: { order: 1 } };
    const { id, work_item_id } = await newReview(at(), agent.id, [pay]);
    await until(async () => {
      const { messages } = await ok(at().api.get(`/reviews/${id}`));
      return messages.every(({ state }: { state: string }) => state !== 'pending');
    });
    for (const path of [`/work-items/${work_item_id}`, `/review/${work_item_id}`]) {
      const page = await at().open(path);
      const note = page.getByText(/^Decide by .*: otherwise others are notified\./);
      await note.waitFor();
      expect(await note.textContent()).toMatch(
        /, in (3|4) h.*Sent to Night desk\. Not delivered to Old desk\. Approval page$/,
      );
      const link = page.getByRole('link', { name: 'Approval page' });
      expect(await link.getAttribute('href')).toBe(`/approve/${id}`);
      await expectAccessible(page, looks);
      // Members see no messages.
      const member = await at().open(path, { as: 'member' });
      await member.getByText(/otherwise others are notified\./).waitFor();
      expect(await member.getByText(/Night desk|Old desk/).count()).toBe(0);
    }
    const page = await at().open(`/work-items/${work_item_id}`);
    await at().sql`update reviews set expires_at = platform_now() where id = ${id}`;
    await page.getByText(/No one had decided by .*; it goes on waiting\./).waitFor();
    await ok(at().api.delete(`/routes/${route.id}`), 204);
    await ok(at().api.post(`/work-items/${work_item_id}/cancel`));
  });

  detail('on a phone the list and the open one are two pages', async () => {
    const played = await playedAgent(at(), 'Phone');
    await played.asking({ work_item_name: 'Nightly close' }, { reason: 'Close it?' }, [
      { role: 'assistant', content: [call('c1', 'W'.repeat(60), { day: 'x'.repeat(100) })] },
    ]);
    const page = await at().open('/review', { width: 360, scheme: 'dark' });
    await page.getByRole('link', { name: /Nightly close/ }).click();
    await page.getByRole('heading', { level: 2, name: 'Close it?' }).waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('button', { name: 'Complete' }).click();
    await page.getByRole('dialog', { name: 'Complete' }).getByRole('button', { name: 'Complete' }).click();
    await page.getByText('Nothing waits for a person.').waitFor();
  });
});
