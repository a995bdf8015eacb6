import { expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { newAgent, newSchedule, ok, query } from '../contract/fixture.ts';
import { expectAccessible } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, type InBrowser } from './fixture.ts';

/** The time of each page: a Sunday, in the middle of the day. */
const now = new Date('2026-11-22T13:36:00Z');

/** A schedule of 2020 at 02:30 in Berlin on weekdays, which an outage of the platform made late. */
const nightly = async (at: InBrowser, fields: object = {}) => {
  const agent = await newAgent(at, { name: 'Ledger' });
  const definition = {
    cron_expression: '30 2 * * 1-5',
    timezone: 'Europe/Berlin',
    work_item_name: 'Nightly close',
    message: 'Close the day.',
    ...fields,
  };
  const { id } = await newSchedule(at, agent.id, definition);
  await query(at, sql`update schedule_definitions set from_at = '2020-01-01' where schedule_id = ${id}`);
  return { id, agent, path: `/agents/${agent.id}/schedules/${id}`, definition };
};

const record = (
  at: InBrowser,
  id: string,
  due: string,
  outcome: string,
  lateMs = 100,
  { reason = null, workItem = null }: { reason?: string | null; workItem?: string | null } = {},
) =>
  query(
    at,
    sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at, count, reason)
      values (${newId()}, ${id}, ${due}, ${outcome}, ${workItem}, ${new Date(Date.parse(due) + lateMs)}, 1,
        ${reason})`,
  );

describeInBrowser('the page of a schedule', (at) => {
  test('the ledger says what happened in words, and Why? explains a time that was not due', async () => {
    const { id, agent, path, definition } = await nightly(at());
    const item = await ok(
      at().api.post('/work-items', { agent_id: agent.id, work_item_name: 'Nightly close' }),
    );
    await query(
      at(),
      sql`insert into scheduling_outages (from_at, to_at, cause)
        values ('2026-11-18T01:11:00Z', '2026-11-18T01:52:00Z', 'stopped')`,
    );
    await record(at(), id, '2026-11-17T01:30:00Z', 'fired');
    await record(at(), id, '2026-11-18T01:30:00Z', 'caught_up', 22 * 60_000);
    await record(at(), id, '2026-11-20T01:30:00Z', 'fired', 100, { workItem: item.id });
    await ok(at().api.put(path, { ...definition, cron_expression: '30 2 * * 1-5', catch_up: false }));
    await query(
      at(),
      sql`update schedule_definitions set from_at = '2026-11-19T10:00:00Z' where schedule_id = ${id} and revision > 1`,
    );
    const page = await at().open(path, { zone: 'Europe/Berlin', now });
    await page.getByRole('heading', { level: 1, name: 'Nightly close' }).waitFor();
    const ledger = page.getByRole('table', { name: 'What became of each occurrence' });
    const missed = ledger.getByRole('row', { name: /Wed 18 Nov/ });
    await missed.getByText('Caught up', { exact: true }).waitFor();
    expect(await missed.textContent()).toContain(
      'No replica was scheduling from 02:11 to 02:52 (Europe/Berlin)',
    );
    // Its name is what is shown of it, and its title all of it.
    const short = `${item.id.slice(0, 6)}…${item.id.slice(-3)}`;
    const link = ledger.getByRole('link', { name: `Work Item ${short}`, exact: true });
    expect([await link.textContent(), await link.getAttribute('title')]).toEqual([short, item.id]);
    expect(await ledger.getByRole('row', { name: /changed catch up/ }).count()).toBe(1);
    const rows = await ledger.getByRole('row').allTextContents();
    const [fired, change, caughtUp] = ['Fri 20 Nov', 'changed catch up', 'Wed 18 Nov'].map((text) =>
      rows.findIndex((row) => row.includes(text)),
    );
    expect(fired! < change! && change! < caughtUp!, rows.join('\n')).toBe(true);

    const why = page.getByRole('region', { name: 'Why?' });
    await why.getByLabel('When').fill('2026-11-21T02:30');
    await why.getByText('It was not due at Sat 21 Nov 02:30 (Europe/Berlin).').waitFor();
    expect(await why.textContent()).toContain('Monday through Friday');
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('2026-11-21T02:30');
    await expectAccessible(page);
    // A row of the ledger is the address of its explanation.
    await missed.getByRole('link').first().click();
    await why.getByText(/the last one had been stopped/).waitFor();
    expect(await why.getByLabel('When').inputValue()).toBe('2026-11-18T02:30');
    await why.getByRole('link', { name: /The time before: Tue 17 Nov/ }).click();
    await why.getByText('Due at Tue 17 Nov 02:30 (Europe/Berlin).').waitFor();
  });

  test('it is paused with a reason, explained, resumed, run and deleted', async () => {
    const { path } = await nightly(at());
    const page = await at().open(path);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    const pause = page.getByRole('dialog', { name: 'Pause schedule' });
    await pause.getByLabel('Reason').fill('until the new price list');
    await expectAccessible(page);
    await pause.getByRole('button', { name: 'Pause schedule' }).click();
    await page.getByText(/Paused by .*: “until the new price list”\. Nothing runs/).waitFor();
    await expect.poll(() => page.title()).toContain('PAUSED · Nightly close');
    // The button is gone that had the focus.
    await expect.poll(() => page.evaluate('document.activeElement?.tagName')).toBe('H1');
    expect(await ok(at().api.get(path))).toMatchObject({ enabled: false });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText(/^Next run in/).waitFor();

    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('row', { name: /Run by hand/ }).waitFor();
    await page.getByText('It has not been due yet; it was run by hand.').waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('row', { name: /Resumed by/ }).waitFor();
    await page.getByRole('tab', { name: 'Upcoming' }).click();
    await expect.poll(() => page.getByRole('table').getByRole('row').count()).toBe(31);
    await page.getByRole('tab', { name: 'Definition' }).click();
    await page.getByText('"30 2 * * 1-5"').waitFor();

    await page.getByRole('button', { name: 'Delete' }).click();
    const remove = page.getByRole('dialog', { name: 'Delete schedule' });
    await remove.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/schedules$/);
    expect((await at().api.get(path)).status).toBe(404);
    expectFault(page, /404/);
    await page.goto(at().test.origin + path);
    await page.getByText('This does not exist.').waitFor();
  });

  detail(
    'a failure leaves the rest of the page, and can be tried again; a short address leads to it',
    async () => {
      const { id, path } = await nightly(at());
      await record(at(), id, '2026-11-20T01:30:00Z', 'fired');
      const page = await at().open(`/schedules/${id}?tab=history`, { as: 'member' });
      await page.waitForURL(`${at().test.origin}${path}?tab=history`);
      expect(await page.getByRole('button', { name: 'Run now' }).getAttribute('aria-disabled')).toBe('true');
      expectFault(page, /500/);
      const failing = '**/occurrences**';
      const error = { code: 'internal_error', message: 'It failed.', error_id: 'an-id' };
      await page.route(failing, (route) => route.fulfill({ status: 500, json: { error } }));
      await page.getByRole('tab', { name: 'Occurrences' }).click();
      await page.getByText('It failed.').waitFor();
      await page.getByText('an-id').waitFor();
      await page.unroute(failing);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('row', { name: /Fri 20 Nov/ }).waitFor();
      await page.getByRole('button', { name: 'Outcome' }).click();
      await page.getByRole('option', { name: 'Late' }).click();
      await page.getByText('No occurrences match 1 filter.').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByRole('row', { name: /Fri 20 Nov/ }).waitFor();
    },
  );
});
