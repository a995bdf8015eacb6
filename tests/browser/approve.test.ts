import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { ok } from '../contract/fixture.ts';
import { startForgingProvider } from '../harness/forging-provider.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, looks, phone } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, type InBrowser, visit } from './fixture.ts';
import { playedAgent } from './work-items-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const most = 100_000;
const target = 44;
const pay = { order: 7731, amount: 12_480, to: { name: 'Nordwind', iban: 'DE02120300000000202051' } };
const toolCall = (tool_name: string, args: object) => ({ kind: 'tool_call', tool_name, arguments: args });

/** A review of a Work Item of a new agent. Returns its id, and what reads and decides it. */
const reviewed = async (at: InBrowser, review: object, agent: object = {}) => {
  const played = await playedAgent(at, 'Invoices');
  await ok(at.api.patch(`/agents/${played.agent.id}`, { approval_role: 'builder', ...agent }));
  const item = await played.asking({ work_item_name: 'Invoice 20417' }, review);
  const id: string = (await ok(at.api.get(`/work-items/${item}`))).review_id;
  const read = (): Promise<Json> => ok(at.api.get(`/reviews/${id}`));
  const decide = async (decision: 'approve' | 'deny') => {
    const { approvals } = await read();
    const decisions = approvals.map(({ approval_id }: Json) => ({ approval_id, decision }));
    return ok(at.api.post(`/reviews/${id}/decide`, { decisions }));
  };
  return { id, item, path: `/approve/${id}`, read, decide };
};

const paying = { reason: 'Pay 12,480.00 EUR to Nordwind?', approvals: [toolCall('ledger.pay', pay)] };
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const outcome = (page: Page) => page.getByRole('region', { name: 'Outcome' });

/** The controls that are smaller than a thumb, as lines. */
const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('button, a, input, textarea, select, summary')]
    .filter((one) => one.checkVisibility())
    .map((one) => [(one.closest('label.check') ?? one).getBoundingClientRect(), one.outerHTML])
    .filter(([{ width, height }]) => width < ${target} || height < ${target})
    .map(([{ width, height }, html]) => width + ' x ' + height + ' ' + html)`);

describeInBrowser('the approval page', (at) => {
  test('a call is edited and approved on a phone, and the page weighs at most 100 kB', async () => {
    const waiting = await reviewed(at(), paying, { approval_timeout_seconds: 14_400 });
    const page = await at().open('/status', { width: 360, scheme: 'light' });
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.setCacheDisabled', { cacheDisabled: true });
    let bytes = 0;
    network.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto(at().test.origin + waiting.path, { waitUntil: 'networkidle' });
    await page.getByRole('heading', { level: 1, name: 'Approval' }).waitFor();
    const call = page.getByRole('region', { name: 'Call' });
    await call.getByText('"iban": "DE02120300000000202051"').waitFor();
    expect(bytes).toBeGreaterThan(40_000);
    expect(bytes).toBeLessThan(most);
    await page.getByText(paying.reason).waitFor();
    await page.getByText('Invoice 20417').waitFor();
    await page.getByText('Builders and administrators').waitFor();
    await page.getByText(/in (4 h|3 h 59 min)/).waitFor();
    await page.getByText('then it is denied').waitFor();

    await button(page, 'Edit arguments').click();
    await page.getByLabel('Arguments').fill('{"order": 7731,');
    await page.getByText('Write a JSON object').waitFor();
    await page.getByLabel('Arguments').fill(JSON.stringify({ ...pay, amount: 480 }));
    const changes = page.getByRole('region', { name: 'Changes' });
    await changes.locator('del', { hasText: '"amount": 12480' }).waitFor();
    await changes.locator('ins', { hasText: '"amount": 480' }).waitFor();
    await page.getByLabel('Reason').fill('The rest is paid.');
    await expectAccessible(page, looks);
    await expectAccessible(page, phone);
    expect(await smallTargets(page)).toEqual([]);

    await button(page, 'Approve').click();
    await outcome(page).getByRole('heading', { name: 'Approved' }).waitFor();
    const decided = outcome(page).getByRole('region', { name: 'Call', exact: true });
    await decided.locator('ins', { hasText: '"amount": 480' }).waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    await expectAccessible(page, looks);
    expect(await waiting.read()).toMatchObject({
      state: 'decided',
      via: 'console',
      approvals: [{ decision: 'approve', executed_arguments: { amount: 480 } }],
    });
  });

  test('a decision of someone else is noticed, and the second of two is told who was first', async () => {
    const [first, second] = [await reviewed(at(), paying), await reviewed(at(), paying)];
    const page = await at().open(first.path);
    await button(page, 'Approve').waitFor();
    await first.decide('deny');
    await outcome(page).getByRole('heading', { name: 'Denied' }).waitFor();
    expect(await page.getByRole('button').count()).toBe(0);

    const late = await at().open(second.path);
    expectFault(late, /412/);
    await button(late, 'Approve').waitFor();
    await late.route('**/api/v2/reviews/*', (route) => route.abort());
    expectFault(late, /ERR_FAILED/);
    await second.decide('deny');
    await button(late, 'Approve').click();
    await outcome(late)
      .getByText(/^.+ denied this at \d\d:\d\d UTC\.$/)
      .waitFor();
    expect(await late.getByRole('button').count()).toBe(0);
  });

  test('without a session it says nothing of the review, and sign-in returns to it', async () => {
    const waiting = await reviewed(at(), paying);
    const page = await at().open(waiting.path, { as: null, width: 360 });
    expectFault(page, /401/);
    await button(page, 'Sign in').waitFor();
    expect(await page.content()).not.toMatch(/Nordwind|Invoice|ledger/);
    expect(await page.getByRole('button').allTextContents()).toEqual(['Sign in']);
    await expectAccessible(page, phone);
    expect(await smallTargets(page)).toEqual([]);
    await button(page, 'Sign in').click();
    await page.getByLabel('API key').fill(await at().keyOf('builder'));
    await button(page, 'Sign in').click();
    await page.getByRole('region', { name: 'Call' }).getByText('ledger.pay').waitFor();
    await page.getByLabel('Reason').fill('Wrong account.');
    await button(page, 'Deny').click();
    await outcome(page).getByRole('heading', { name: 'Denied' }).waitFor();
    await outcome(page).getByText('Reason: Wrong account.').waitFor();
  });

  test('reading it decides nothing, and unknown ids and other roles get a page that says so', async () => {
    const waiting = await reviewed(at(), paying);
    for (const method of ['GET', 'HEAD']) {
      const headers = { authorization: `Bearer ${await at().keyOf('admin')}`, accept: 'text/html' };
      const response = await fetch(at().test.origin + waiting.path, { method, headers });
      expect(response.status).toBe(200);
      expect(await response.text()).not.toMatch(/Nordwind/);
    }
    expect((await waiting.read()).state).toBe('open');

    const page = await at().open(waiting.path, { as: 'member' });
    await page.getByText('Deciding requires the role builder; you are member.').waitFor();
    await page.getByRole('region', { name: 'Call' }).getByText('"iban"').waitFor();
    expect(await page.getByRole('button').count()).toBe(0);

    const other = await at().open('/approve/00000000-0000-7000-8000-000000000000');
    expectFault(other, /404/);
    await other.getByRole('heading', { name: 'There is no review at this address for you.' }).waitFor();
    await expectAccessible(other, phone);
  });

  test('a decision whose response was lost is sent again, and counts once', async () => {
    const waiting = await reviewed(at(), paying);
    const page = await at().open(waiting.path);
    expectFault(page, /ERR_/);
    // The review is read before the network breaks.
    await page.getByLabel('Reason').waitFor();
    const keys: (string | undefined)[] = [];
    let lost = false;
    await page.route('**/api/v2/reviews/**', async (route) => {
      const request = route.request();
      if (request.method() === 'POST') keys.push(request.headers()['idempotency-key']);
      if (lost) return route.continue();
      if (request.method() === 'POST') await route.fetch();
      return route.abort('connectionreset');
    });
    await page.getByLabel('Reason').fill('Not due.');
    await button(page, 'Deny').click();
    await page.getByText('Nothing is lost').waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('Not due.');
    lost = true;
    await button(page, 'Try again').click();
    await outcome(page).getByText('Reason: Not due.').waitFor();
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test('several calls are decided one by one and sent together', async () => {
    const two = [toolCall('ledger.pay', pay), toolCall('ledger.close', { day: 'today' })];
    const waiting = await reviewed(at(), { reason: 'Pay and close?', approvals: two });
    const page = await at().open(waiting.path, { width: 360, scheme: 'dark' });
    const [first, second] = ['Call 1 of 2', 'Call 2 of 2'].map((name) => page.getByRole('region', { name }));
    await first!.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('1 of 2 decided').waitFor();
    expect(await button(page, 'Send decisions').getAttribute('aria-disabled')).toBe('true');
    await second!.getByLabel('Reason').fill('Too early.');
    await second!.getByRole('button', { name: 'Deny' }).click();
    await expectAccessible(page, phone);
    expect(await smallTargets(page)).toEqual([]);
    await button(page, 'Send decisions').click();
    await outcome(page).getByRole('heading', { name: 'Decided' }).waitFor();
    expect((await waiting.read()).approvals).toMatchObject([
      { decision: 'approve' },
      { decision: 'deny', decision_reason: 'Too early.' },
    ]);
  });

  test('a question gets a reply', async () => {
    const waiting = await reviewed(at(), { reason: 'Which address is right?' });
    const page = await at().open(waiting.path, { as: 'member', width: 360 });
    await page.getByText('Which address is right?').waitFor();
    await page.getByLabel('Reply').fill('The second one.');
    await expectAccessible(page, phone);
    await button(page, 'Send reply').click();
    await outcome(page).getByRole('heading', { name: 'Answered' }).waitFor();
    await until(async () => (await waiting.read()).state === 'decided');
  });

  test('text that would hide something is shown as what it is', async () => {
    const args = { to: 'a\u202ebc\u200bd', html: '<img src=x onerror=alert(1)>', long: 'x'.repeat(3_000) };
    const waiting = await reviewed(at(), {
      reason: '<b>Pay?</b>',
      approvals: [toolCall('ledger.pay', args)],
    });
    const page = await at().open(waiting.path, { width: 360 });
    await page.getByText('"to": "a\\u202ebc\\u200bd"').waitFor();
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    await page.getByText('<b>Pay?</b>').waitFor();
    await expectAccessible(page, phone);
  });

  detail('a link inside the application leads to it', async () => {
    const waiting = await reviewed(at(), paying);
    const page = await at().open('/status');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await visit(page, waiting.path);
    await button(page, 'Approve').waitFor();
  });
});

/** The approval page for a review whose one call asks for input; the decision that it sends. */
const asked = async (at: InBrowser, input: object): Promise<{ page: Page; sent: () => Json }> => {
  const waiting = await reviewed(at, paying);
  const page = await at.open('/status', { width: 360 });
  let body: Json;
  await page.route('**/api/v2/reviews/**', async (route) => {
    const review = await waiting.read();
    const [first] = review.approvals;
    const approvals = [{ ...first, kind: 'input', mode: 'form', url: null, round: 1, ...input }];
    if (route.request().method() === 'POST') {
      body = route.request().postDataJSON();
      const closed_by = { kind: 'user', id: 'x', name: 'Ada' };
      const closed = { state: 'decided', closed_at: review.opened_at, closed_by, via: 'console' };
      return route.fulfill({ json: { ...review, ...closed, approvals } });
    }
    return route.fulfill({ json: { ...review, approvals } });
  });
  await page.goto(at.test.origin + waiting.path);
  return { page, sent: () => body };
};

describeInBrowser('the approval page of a tool that asks for input', (at) => {
  test('a form has a field for each property, by its title', async () => {
    const input_schema = {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Your name', description: 'As in the passport.' },
        nights: { type: 'integer', title: 'Nights', default: 2 },
        room: { type: 'string', title: 'Room', enum: ['s', 'd'], enumNames: ['Single', 'Double'] },
        extras: { type: 'array', title: 'Extras', items: { type: 'string', enum: ['sea', 'sun'] } },
        breakfast: { type: 'boolean', title: 'Breakfast' },
      },
      required: ['name', 'room'],
    };
    const { page, sent } = await asked(at(), { reason: 'Who stays?', input_schema });
    const region = page.getByRole('region', { name: 'Input' });
    await region.getByText('Who stays?').waitFor();
    await button(page, 'Submit answer').click();
    await region.getByText('is required').first().waitFor();
    expect(sent()).toBeUndefined();
    await region.getByLabel('Your name').fill('Ada');
    await region.getByLabel('Room').selectOption({ label: 'Double' });
    await region.getByLabel('sea').check();
    await region.getByLabel('Breakfast').check();
    await expectAccessible(page, phone);
    expect(await smallTargets(page)).toEqual([]);
    await button(page, 'Submit answer').click();
    await outcome(page).waitFor();
    expect(sent().decisions).toMatchObject([
      {
        decision: 'approve',
        arguments: { name: 'Ada', nights: 2, room: 'd', extras: ['sea'], breakfast: true },
      },
    ]);
  });

  test('an address is whole, its host marked, and opened in another tab', async () => {
    const url = 'https://раypal.example/pay?to=https://paypal.com';
    const { page, sent } = await asked(at(), { mode: 'url', url, input_schema: null });
    const region = page.getByRole('region', { name: 'Input' });
    await region.getByText('https://xn--ypal-43d9g.example/pay?to=https://paypal.com').waitFor();
    expect(await region.locator('mark').textContent()).toBe('xn--ypal-43d9g.example');
    await region.getByText('letters that can look like others').waitFor();
    const link = region.getByRole('link', { name: 'Open address' });
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener');
    expect(await link.getAttribute('target')).toBe('_blank');
    await page
      .context()
      .route('https://xn--ypal-43d9g.example/**', (route) => route.fulfill({ body: 'paid' }));
    const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await tab.close();
    await expectAccessible(page, phone);
    await button(page, 'I have finished').click();
    await outcome(page).waitFor();
    expect(sent().decisions).toEqual([{ approval_id: expect.any(String), decision: 'approve' }]);
  });

  test('it is declined', async () => {
    const { page, sent } = await asked(at(), { input_schema: { type: 'object', properties: {} } });
    await button(page, 'Decline').click();
    await outcome(page).waitFor();
    expect(sent().decisions).toEqual([{ approval_id: expect.any(String), decision: 'deny' }]);
  });
});

const idp = await startForgingProvider();
afterAll(() => idp[Symbol.asyncDispose]());

describeInBrowser(
  'the approval page with an identity provider',
  (at) => {
    test('single sign-on returns to it', async () => {
      await ok(at().api.post('/role-mappings', { claim: 'sub', value: 'alice', role: 'builder' }));
      const waiting = await reviewed(at(), paying);
      const page = await at().open(waiting.path, { as: null, width: 360 });
      expectFault(page, /401/);
      await button(page, 'Sign in').click();
      await page.getByRole('link', { name: 'Sign in with single sign-on' }).click();
      await page.getByRole('region', { name: 'Call' }).getByText('ledger.pay').waitFor();
      expect(new URL(page.url()).pathname).toBe(waiting.path);
      await button(page, 'Approve').click();
      await outcome(page).getByRole('heading', { name: 'Approved' }).waitFor();
    });
  },
  { env: idp.env },
);
