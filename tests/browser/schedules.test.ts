import { expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { newAgent, newSchedule, ok, query, setSettings } from '../contract/fixture.ts';
import { clearOfNext } from '../harness/wait.ts';
import { expectAccessible, phone, wide } from './accessibility.ts';
import { expectFault } from './faults.ts';
import { describeInBrowser, detail, visit } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const minute = 60_000;
const hour = 60 * minute;
const iso = (at: number) => new Date(at).toISOString();

describeInBrowser('schedules', (at) => {
  const record = (
    schedule: Json,
    due: number,
    outcome: string,
    { late = 100, count = 1, item = null as string | null } = {},
  ) =>
    query(
      at(),
      sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at, count, reason)
        values (${newId()}, ${schedule.id}, ${iso(due)}, ${outcome}, ${item}, ${iso(due + late)}, ${count},
          ${outcome === 'skipped' ? 'missed' : null})`,
    );

  /** Three schedules of one agent that have run for two days, and 56 of another. */
  const fill = async (): Promise<void> => {
    // The schedules are real: none of them must fire between here and what the list is expected to say.
    await clearOfNext(15 * minute, 15_000);
    const now = Math.floor(Date.now() / hour) * hour;
    await setSettings(at(), { MAX_SCHEDULES_PER_AGENT: 100 });
    const agent = await newAgent(at(), { name: 'Ledger' });
    await newSchedule(at(), agent.id, {
      cron_expression: '30 2 * * 1-5',
      timezone: 'America/New_York',
      work_item_name: 'Nightly close with a name that somebody made very long to see what happens',
    });
    const sweep = await newSchedule(at(), agent.id, {
      cron_expression: '0 * * * *',
      timezone: 'Europe/Berlin',
      work_item_name: 'Customer sweep',
    });
    const backup = await newSchedule(at(), agent.id, {
      cron_expression: '*/15 * * * *',
      work_item_name: 'Backup check',
    });
    await query(at(), sql`update schedule_definitions set from_at = now() - interval '2 days'`);
    for (let back = 40; back > 0; back--) {
      await record(sweep, now - back * hour, back % 9 === 0 ? 'caught_up' : 'fired', {
        late: back % 9 === 0 ? 8 * minute : back % 7 === 0 ? 41_000 : 100,
      });
      for (let quarter = 0; quarter < 4; quarter++) {
        if (back === 6 || back === 7) continue;
        await record(backup, now - back * hour + quarter * 15 * minute, 'fired');
      }
    }
    await record(backup, now - 15 * minute, 'skipped', { count: 3, late: 50 * minute });
    const desk = await newAgent(at(), { name: 'Success desk' });
    for (let k = 0; k < 56; k++) {
      await newSchedule(at(), desk.id, {
        cron_expression: `${k} */2 * * *`,
        timezone: 'Asia/Tokyo',
        work_item_name: `Churn alert ${k + 1}`,
      });
    }
  };

  detail('an empty list has one sentence, one button and one command', async () => {
    const page = await at().open('/schedules');
    await page.getByText('A schedule starts an agent').waitFor();
    expect(await page.getByRole('link', { name: 'New schedule' }).count()).toBe(1);
  });

  test('the list says what became of each schedule, and exactly those that were seen are changed', async () => {
    await fill();
    const page = await at().open('/schedules?sort=name&q=Ledger', { zone: 'Europe/Berlin' });
    const backup = page.getByRole('row', { name: /Backup check/ });
    await backup.getByText('Missing', { exact: true }).waitFor();
    // `k` and `x` are the letters of places, too, but only after `g`.
    for (const key of ['j', 'j', 'k', 'x']) await page.keyboard.press(key);
    await page.getByRole('checkbox', { name: 'Select Backup check', checked: true }).waitFor();
    await page.keyboard.press('x');
    await page.getByRole('toolbar').waitFor({ state: 'detached' });
    await expectAccessible(page);

    await page.getByRole('button', { name: 'More actions for Backup check' }).click();
    await page.getByRole('menuitem', { name: 'Pause' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pause schedule' });
    await dialog.getByLabel('Reason').fill('until the disk is larger');
    await expectAccessible(page, phone);
    await dialog.getByRole('button', { name: 'Pause schedule' }).click();
    await backup.getByText('“until the disk is larger”').waitFor();

    await page.getByRole('textbox', { name: 'Filter' }).fill('churn');
    await page.getByText('56 schedules match.').waitFor();
    await page.getByRole('checkbox', { name: 'Select all', exact: true }).check();
    await page.getByRole('button', { name: 'Select all 56 that match' }).click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Pause' }).click();
    await page
      .getByRole('dialog', { name: 'Pause 56 schedules' })
      .getByRole('button', { name: 'Pause 56' })
      .click();
    await page.getByText('56 schedules are paused').waitFor();
    const paused = (await ok(at().app.get('/schedules?state=paused&limit=1'))).total;
    expect(paused).toBe(57);

    await page.getByRole('textbox', { name: 'Filter' }).fill('no such name');
    await page.getByText('No schedules match 1 filter.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText(/^59 schedules/).waitFor();
    await page.getByRole('textbox', { name: 'Filter' }).fill('ledger');
    await page.getByRole('button', { name: 'More actions for Backup check' }).click();
    await page.getByRole('menuitem', { name: 'Resume' }).click();
    await page.getByText('1 schedule is resumed').waitFor();
    await page.getByRole('button', { name: 'More actions for Customer sweep' }).click();
    await page.getByRole('menuitem', { name: 'Run now' }).click();
    await page.getByText('A Work Item of Customer sweep was made').waitFor();
  });

  test('the timeline shows what was and what comes, with the changes of the clock, at an address to share', async () => {
    const { data } = await ok(at().app.get('/schedules?q=sweep'));
    const page = await at().open(`/schedules?view=timeline&agent_id=${data[0].agent.id}`, {
      zone: 'Europe/Berlin',
    });
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('link', { name: 'Customer sweep', exact: true }).waitFor();
    await timeline.getByText(/^now /).waitFor();
    await expectAccessible(page);
    await page.getByRole('radio', { name: '6 h' }).check();
    await page.waitForURL(/span=6h/);
    await page.getByRole('button', { name: 'Later' }).click();
    await page.waitForURL(/from=.*to=/);

    await visit(
      page,
      `/schedules?view=timeline&from=2027-03-27T12:00:00Z&to=2027-03-28T12:00:00Z&schedule_id=${data[0].id}`,
    );
    await page.getByText('the clock in Europe/Berlin goes from 02:00 to 03:00').waitFor();
    expect(await timeline.getByRole('link').count()).toBe(1);
    await expectAccessible(page, wide);
    await page.getByRole('button', { name: 'Copy link' }).waitFor();
    await visit(page, '/schedules?view=timeline&span=14d');
    await timeline.getByText(/^now /).waitFor();
    // The view as a path, as people type it.
    await visit(page, '/schedules/timeline');
    await timeline.getByText(/^now /).waitFor();
  });

  detail('the calendar adds up the hours of a week, and leads to the timeline of an hour', async () => {
    const page = await at().open('/schedules?view=calendar&from=2027-03-24T12:00:00Z', {
      zone: 'Europe/Berlin',
    });
    await page.getByText(/^Busiest: \d+ occurrences in the hour/).waitFor();
    await page.getByTitle('Sun 28 Mar 02:00 does not exist: the clock goes forward.').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: /^Mon 22 Mar 00:00/ }).click();
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
  });

  detail('a list that fails says so, and tries again', async () => {
    const page = await at().open('/');
    expectFault(page, /500/);
    await page.route('**/app/api/schedules?*', (route) =>
      route.fulfill({
        status: 500,
        json: { error: { error_id: newId(), code: 'internal_error', message: 'The request failed.' } },
      }),
    );
    await visit(page, `/schedules`);
    await page.getByText('error_id').waitFor();
    await page.unroute('**/app/api/schedules?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table', { name: 'Schedules' }).waitFor();
  });

  detail('a dialog gives the focus back to the button, also to that of a menu', async () => {
    const page = await at().open('/schedules?sort=name');
    const more = page.getByRole('button', { name: 'More actions for Backup check' });
    const focused = () => page.evaluate(`document.activeElement?.getAttribute('aria-label')`);
    for (const close of ['Escape', 'Close']) {
      await more.click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete schedule' });
      await dialog.getByLabel('Reason').waitFor();
      if (close === 'Escape') await page.keyboard.press('Escape');
      else await dialog.getByRole('button', { name: 'Close' }).click();
      await dialog.waitFor({ state: 'detached' });
      await expect.poll(focused).toBe('More actions for Backup check');
    }
  });

  detail('rows that could not be refreshed say how old they are', async () => {
    const page = await at().open('/schedules?sort=name', { now: new Date() });
    await page.getByRole('row', { name: /Backup check/ }).waitFor();
    expectFault(page, /500/);
    await page.route('**/app/api/schedules?*ids=*', (route) =>
      route.fulfill({
        status: 500,
        json: { error: { error_id: newId(), code: 'internal_error', message: 'The request failed.' } },
      }),
    );
    await page.clock.runFor(20_000);
    await page.getByText(/^updated \d+ s ago, and the refresh failed$/).waitFor();
    await page.getByRole('row', { name: /Backup check/ }).waitFor();
  });

  detail('names of any length and direction leave the rest of the page where it is', async () => {
    const agent = await newAgent(at(), { name: 'L'.repeat(200) });
    const schedule = await newSchedule(at(), agent.id, { work_item_name: 'W'.repeat(200) });
    const reason = 'until the new \u202Eprices';
    await ok(at().app.post(`/agents/${agent.id}/schedules/${schedule.id}/pause`, { reason }));
    const page = await at().open(`/schedules?agent_id=${agent.id}`, { width: 360 });
    for (const path of [
      '',
      `/schedules?view=timeline&agent_id=${agent.id}`,
      `/agents/${agent.id}/schedules/${schedule.id}`,
    ]) {
      if (path) await visit(page, path);
      await page.getByText(/WWW/).first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBeLessThan(1);
    }
    // The quotation mark after the reason is drawn after it, not before.
    const right = await page.evaluate(`(() => {
      const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
      while (!texts.nextNode()?.data.includes('until the new'));
      const text = texts.currentNode;
      const at = (part) => {
        const range = document.createRange();
        range.setStart(text, text.data.indexOf(part));
        range.setEnd(text, text.data.indexOf(part) + 1);
        return range.getBoundingClientRect();
      };
      return at('”').top > at('prices').top || at('”').left > at('prices').left;
    })()`);
    expect(right).toBe(true);
  });

  detail(
    'a schedule that someone else deleted is gone when one acts on it, and says where to see who',
    async () => {
      const agent = await newAgent(at());
      const schedule = await newSchedule(at(), agent.id, { work_item_name: 'Short life' });
      const page = await at().open(`/agents/${agent.id}/schedules/${schedule.id}`);
      await page.getByRole('heading', { level: 1, name: 'Short life' }).waitFor();
      await at().api.delete(`/agents/${agent.id}/schedules/${schedule.id}`);
      expectFault(page, /404/);
      await page.getByRole('button', { name: 'Run now' }).click();
      await page.getByText('This does not exist.').waitFor();
      await page.getByRole('link', { name: 'Who deleted it, in the audit log' }).click();
      await page.getByRole('row', { name: /schedule\.delete/ }).waitFor();
    },
  );
});
