import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { newAgent, newSchedule, query } from '../contract/fixture.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { describeInBrowser, detail } from './fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
const iso = (at: number) => new Date(at).toISOString();
const clock = (at: number) => iso(at).slice(11, 16);

describeInBrowser('three in the morning', (at) => {
  /** The first of three occurrences of a minute, three hours ago, at which no replica was scheduling. */
  const due = Math.floor(Date.now() / minute) * minute - 3 * hour;
  const sentence = `No replica was scheduling from ${clock(due - minute)} to ${clock(due + 3 * minute)} (UTC): the last one had ended without a stop.`;

  /** What is stored after an outage of four minutes: an agent that reports every minute missed three of them. */
  const fill = async (): Promise<void> => {
    const agent = await newAgent(at(), { name: 'Reporter' });
    const fields = { cron_expression: '* * * * *', work_item_name: 'Minute report' };
    const { id } = await newSchedule(at(), agent.id, fields);
    await query(
      at(),
      sql`update schedule_definitions set from_at = ${iso(due - hour - 1)} where schedule_id = ${id}`,
    );
    await query(
      at(),
      sql`insert into scheduling_outages (from_at, to_at, cause)
        values (${iso(due - minute)}, ${iso(due + 3 * minute)}, 'lost')`,
    );
    const record = (offset: number, outcome: string, late: number, count = 1) =>
      query(
        at(),
        sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, at, count, reason)
          values (${newId()}, ${id}, ${iso(due + offset * minute)}, ${outcome},
            ${iso(due + offset * minute + late)}, ${count}, ${outcome === 'skipped' ? 'missed' : null})`,
      );
    for (let k = -60; k < 180; k++) {
      if (k === 0) await record(0, 'skipped', 3 * minute, 3);
      else if (k < 0 || k > 2) await record(k, 'fired', 100);
    }
  };

  const answer = (page: Page) => page.getByRole('region', { name: 'Why?' }).getByText(sentence);

  test('the reason is on the first screen, and one click leads to it with its records', async () => {
    await fill();
    const page = await at().open('/');
    const line = page
      .getByRole('region', { name: 'Needs attention' })
      .getByRole('listitem')
      .filter({ hasText: '3 occurrences of Minute report did not fire' });
    await line.getByText(sentence).waitFor();
    await expectAccessible(page, phone);
    await line.getByRole('link', { name: /^Why\?: 3 occurrences/ }).click();
    await answer(page).waitFor();
    const row = page.getByRole('row', { name: /Missing/ });
    await row.getByText(sentence).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await expectAccessible(page, wide);
  });

  test('the band shows what is missing, and leads to its reason with two clicks', async () => {
    const page = await at().open('/');
    const band = page.getByRole('region', { name: 'Timeline' });
    const bucket = (page: Page) =>
      page.locator('a', { has: page.locator('title', { hasText: '3 missing' }) });
    await band.getByRole('link', { name: 'Reporter', exact: true }).waitFor();
    await bucket(page).first().click();
    await page.waitForURL(/view=timeline/);
    await bucket(page).first().click();
    await page
      .getByRole('row', { name: /Missing/ })
      .getByText(sentence)
      .waitFor();
  });

  detail('the band of a page that stays open follows the time', async () => {
    const page = await at().open('/', { now: new Date() });
    const begins = new Set<number>();
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/timeline')) begins.add(Date.parse(searchParams.get('from')!));
    });
    const now = page.getByRole('region', { name: 'Timeline' }).getByText(/^now /);
    await page.reload();
    await now.waitFor();
    await page.clock.fastForward(hour + minute);
    await expect.poll(() => [...begins].length).toBe(2);
    const [first, second] = [...begins];
    expect(second! - first!).toBe(hour);
    await now.waitFor();
  });

  test('the keyboard alone leads to the reason', async () => {
    const page = await at().open('/');
    await page.getByText(sentence).waitFor();
    const focused = () => page.evaluate<string>(`document.activeElement?.getAttribute('aria-label') ?? ''`);
    for (let k = 0; !(await focused()).startsWith('Why?') && k < 60; k++) await page.keyboard.press('Tab');
    expect(await focused()).toBe('Why?: 3 occurrences of Minute report did not fire');
    await page.keyboard.press('Enter');
    await answer(page).waitFor();
  });
});
