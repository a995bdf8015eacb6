import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newAgent, ok } from '../contract/fixture.ts';
import { until } from '../harness/wait.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';
import { call, playedAgent, text } from './work-items-fixture.ts';

/** Counts the requests of `page` to the API from now on, without the stream. */
const countRequests = (page: Page): string[] => {
  const seen: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (/^\/(app\/)?api\//.test(pathname) && !pathname.endsWith('/stream')) seen.push(pathname);
  });
  return seen;
};

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name });

describeInBrowser('Work Items', (at) => {
  test('one that calls a tool is followed, approved, and told from what others wrote', async () => {
    const played = await playedAgent(at(), 'Ledger');
    await played.create({
      work_item_name: 'Invoice 20417',
      message: 'Pay it.',
      payload: { invoice: 20_417 },
    });
    const run = await played.claim();
    const page = await at().open(`/work-items/${run.id}`);
    await page.locator('header').getByText('Executing').waitFor();
    const hostile = '<img src=x onerror="alert(1)"><script>alert(2)</script> javascript:alert(3)';
    await run.say(
      { role: 'assistant', content: [text('I read it.'), call('c1', 'read_file', { file: 'invoice.pdf' })] },
      {
        role: 'tool',
        content: [
          {
            type: 'tool_result',
            tool_call_id: 'c1',
            tool_name: 'read_file',
            text: `${hostile} https://example.com/a`,
            is_error: false,
          },
        ],
      },
      { role: 'assistant', content: [text(hostile), call('c2', 'ledger.pay', { order: 7731 })] },
    );
    // By the stream, without a reload.
    await page.getByText('I read it.').waitFor();
    await button(page, /read_file/).click();
    await page.getByText('https://example.com/a').waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.locator('main a[href^="javascript"]').count()).toBe(0);
    await run.finish({
      outcome: 'NEEDS_REVIEW',
      review: {
        reason: 'Pay Nordwind?',
        approvals: [{ kind: 'tool_call', tool_name: 'ledger.pay', arguments: { order: 7731 } }],
      },
    });
    await page.getByText(/Waits for a person since/).waitFor();
    await expect.poll(() => page.title()).toMatch(/NEEDS_REVIEW · Invoice 20417/);
    await expectAccessible(page);
    await button(page, 'Edit arguments').click();
    await page.getByLabel('Arguments', { exact: true }).fill('{"order": 7732}');
    await expectAccessible(page, wide);
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/Waits for an external worker/).waitFor();
    const { records } = await ok(at().api.post('/work-items/claim', { agent_ids: [played.agent.id] }));
    expect(records[0].decisions).toMatchObject([{ decision: 'approve', arguments: { order: 7732 } }]);
  });

  detail('its tabs have addresses: steps, events, payload and result, traces', async () => {
    const played = await playedAgent(at(), 'Closer');
    await played.create({
      work_item_name: 'Nightly close',
      message: 'Close.',
      payload: { day: '2026-11-22' },
    });
    const run = await played.claim();
    await run.finish({ outcome: 'COMPLETED', result: { sum: 12 } });
    const page = await at().open(`/work-items/${run.id}?tab=timeline`, { scheme: 'dark', width: 360 });
    await page.getByRole('group', { name: 'Timeline' }).getByText('Attempt 1').waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('row', { name: /Taken by a worker/ }).waitFor();
    await expectAccessible(page, phone);
    await page.getByRole('tab', { name: 'Payload and result' }).click();
    await page.getByRole('figure', { name: 'Result' }).getByText('"sum": 12').waitFor();
    await page.getByRole('figure', { name: 'Payload' }).getByText('"2026-11-22"').waitFor();
    await expectAccessible(page, phone);
    // A trace may be asked for before it is stored.
    expectFault(page, /404.*\/traces\//);
    await page.getByRole('tab', { name: 'Traces' }).click();
    await page.getByLabel('Attempt', { exact: true }).waitFor();
    await expect.poll(() => page.url()).toContain('tab=traces');
    await button(page, 'Restart').click();
    await page.getByRole('dialog', { name: 'Restart' }).getByRole('button', { name: 'Restart' }).click();
    await until(async () => (await played.statusOf(run.id)) === 'PENDING', 5_000);
  });

  detail('six windows with an open Work Item leave room for what else is loaded', async () => {
    const played = await playedAgent(at(), 'Six');
    const id = await played.asking({ work_item_name: 'Six' }, { reason: 'Go on?' });
    const first = await at().open(`/work-items/${id}`);
    const others = await Promise.all([1, 2, 3, 4, 5].map(() => first.context().newPage()));
    await Promise.all(others.map((page) => page.goto(first.url())));
    for (const page of [first, ...others]) await page.getByText('Go on?').first().waitFor();
    // A browser has six connections to a host, and each stream has one of them.
    await others[4]!.getByRole('tab', { name: 'Events' }).click();
    await others[4]!.getByRole('row').nth(1).waitFor();
    await first.getByRole('button', { name: 'Complete' }).click();
    await first.getByRole('dialog').getByRole('button', { name: 'Complete' }).click();
    for (const page of [first, ...others])
      await page
        .getByText(/^Completed/)
        .first()
        .waitFor();
  });

  detail('a message of 5 MB is shown by its beginning, and downloaded whole', async () => {
    const played = await playedAgent(at(), 'Writer');
    await played.create({ work_item_name: 'Long' });
    const run = await played.claim();
    const part = 'All work and no play. '.repeat(9_000);
    await run.say({ role: 'assistant', content: Array.from({ length: 26 }, () => text(part)) });
    await run.finish({ outcome: 'COMPLETED' });
    const page = await at().open(`/work-items/${run.id}`);
    await page
      .getByText(/The first .* of 5.1 MB/)
      .first()
      .waitFor();
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(5_000);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).first().click();
    expect((await download).suggestedFilename()).toMatch(/^message-/);
  });

  test('the list counts, filters, leads to one and on to the next', async () => {
    const played = await playedAgent(at(), 'Listed');
    for (let i = 1; i <= 3; i++) await played.create({ work_item_name: `Report ${i}`, draft: i === 2 });
    const page = await at().open('/work-items?q=report');
    await page.getByRole('row', { name: /Report 3/ }).waitFor();
    const seen = countRequests(page);
    await page.reload();
    await page.getByRole('row', { name: /Report 3/ }).waitFor();
    expect(seen.length).toBeLessThanOrEqual(3);
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: 'Draft 1' }).click();
    await page.getByRole('row', { name: /Report 3/ }).waitFor({ state: 'detached' });
    await expect.poll(() => page.url()).toContain('status=DRAFT');
    await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: /^All/ }).click();
    await page.getByRole('link', { name: /Report 3/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Report 3' }).waitFor();
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Report 2' }).waitFor();
    await button(page, 'Submit').click();
    await page.getByText(/Waits for an external worker/).waitFor();
    await page.getByRole('link', { name: 'Work Items' }).last().click();
    await expect.poll(() => page.url()).toContain('q=report');
    await page.getByLabel('Filter', { exact: true }).fill('nothing is called this');
    await page.getByText('No Work Items match 1 filter.').waitFor();
    await button(page, 'Clear filters').click();
    await page.getByRole('row', { name: /Report 1/ }).waitFor();
  });

  detail('what is new is counted, and rows are refreshed in place; live shows both', async () => {
    const played = await playedAgent(at(), 'Lively');
    await played.create({ work_item_name: 'Lively 1' });
    const page = await at().open(`/work-items?agent_id=${played.agent.id}`);
    await page.getByRole('row', { name: /Lively 1/ }).waitFor();
    const { finish } = await played.claim();
    await finish({ outcome: 'COMPLETED' });
    await played.create({ work_item_name: 'Lively 2' });
    await page.getByRole('row', { name: /Lively 1.*Completed/ }).waitFor();
    await button(page, '1 new').waitFor();
    expect(await page.getByRole('row', { name: /Lively 2/ }).count()).toBe(0);
    await button(page, '1 new').click();
    await page.getByRole('row', { name: /Lively 2/ }).waitFor();
    await button(page, 'Live').click();
    await expect.poll(() => page.url()).toContain('live=1');
    await played.create({ work_item_name: 'Lively 3' });
    await page.getByRole('row', { name: /Lively 3/ }).waitFor();
  });

  test('all that match are changed, after the exact number was said', async () => {
    const { id } = await newAgent(at(), { name: 'Many', execution: 'external' });
    const items = Array.from({ length: 60 }, () => ({ agent_id: id, work_item_name: 'Bulk', draft: true }));
    await ok(at().api.post('/work-items/bulk', { items }));
    const page = await at().open(`/work-items?agent_id=${id}`);
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await button(page, 'Select all 60 that match').click();
    await page.getByText('60 selected').waitFor();
    // Someone else is faster with one of them.
    const [first] = (await ok(at().api.get(`/work-items?agent_id=${id}&limit=1`))).records;
    await ok(at().api.post(`/work-items/${first.id}/submit`));
    await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel' });
    await dialog.getByText('All 60 selected Work Items would change.').waitFor();
    await expectAccessible(page, wide);
    await dialog.getByRole('button', { name: 'Cancel 60 Work Items' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { total_count } = await ok(at().api.get(`/work-items?agent_id=${id}&status=CANCELLED`));
    expect(total_count).toBe(60);
  });

  detail('one is created, and the fields say what is wrong', async () => {
    const { id } = await newAgent(at(), { name: 'Maker', execution: 'external' });
    const page = await at().open(`/work-items/new?agent=${id}`, { width: 360, scheme: 'dark' });
    await page.getByLabel('Name').fill('By hand');
    await page.getByLabel('Payload').fill('not JSON');
    await button(page, 'Create Work Item').click();
    await page.getByText('Write a JSON object').waitFor();
    await expectAccessible(page, phone);
    await page.getByLabel('Payload').fill('{"day": 1}');
    await page.getByLabel('Message').fill('Do it.');
    await button(page, 'Create draft').click();
    await page.getByRole('heading', { level: 1, name: 'By hand' }).waitFor();
    await page.getByText('Draft:', { exact: true }).waitFor();
  });

  detail('a list that fails says so and is tried again; one that is gone leads to the list', async () => {
    const page = await at().open('/work-items?q=broken');
    expectFault(page, /500|404|console Failed/);
    let fails = true;
    await page.route('**/app/api/work-items?*', (route) =>
      fails
        ? route.fulfill({
            status: 500,
            json: { error: { error_id: '01a2', code: 'internal_error', message: 'It broke.' } },
          })
        : route.continue(),
    );
    await page.reload();
    await page.getByText('It broke.').waitFor();
    await page.getByText('01a2').waitFor();
    fails = false;
    await button(page, 'Try again').click();
    await page.getByText(/No Work Items match/).waitFor();
    await visit(page, `/work-items/019a0000-0000-7000-8000-000000000000`);
    await page.getByText('This does not exist.').waitFor();
    await expectAccessible(page, phone);
  });
});
