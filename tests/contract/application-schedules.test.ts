import { afterEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { expectError, newAgent, newSchedule, ok, onPostgres, time, unknownId } from './fixture.ts';

const minute = 60_000;
const iso = (at: number) => new Date(at).toISOString();

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

describe('the schedules of all agents', () => {
  onPostgres(
    (at) => {
      afterEach(async () => {
        await at().sql`delete from agents`;
      });
      const list = async (filter = ''): Promise<Json[]> =>
        (await ok(at().app.get(`/schedules?${filter}`))).data;
      const path = ({ agent_id, id }: Json) => `/agents/${agent_id}/schedules/${id}`;
      const names = async (filter = '') => (await list(filter)).map((row) => row.work_item_name);
      /** Makes schedules of one agent with these names, due a day from now in this order. */
      const named = async (agentName: string, ...scheduleNames: string[]) => {
        const agent = await newAgent(at(), { name: agentName });
        const made: Json[] = [];
        for (const [n, work_item_name] of scheduleNames.entries()) {
          const schedule = await newSchedule(at(), agent.id, { work_item_name });
          const next = iso(Math.floor(Date.now() / minute + 1_440 + n) * minute);
          await at().sql`update schedules set next_run_at = ${next} where id = ${schedule.id}`;
          made.push(schedule);
        }
        return made;
      };
      /** Records an occurrence as a firing does. */
      const record = async (schedule: Json, outcome: string, fields: object = {}) => {
        const { late = 100, reason = null, count = 1, item = null, ago = minute } = fields as Json;
        const due = Math.floor((Date.now() - ago) / minute) * minute;
        const isBlocked = outcome === 'skipped' && reason !== 'missed';
        const last =
          outcome === 'fired' ? (late > 5_000 ? 'late' : 'on_time') : isBlocked ? 'blocked' : outcome;
        await at()
          .sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at, count, reason)
            values (${newId()}, ${schedule.id}, ${iso(due)}, ${outcome}, ${item}, ${iso(due + late)}, ${count}, ${reason})`;
        await at().sql`update schedules set last_outcome = ${last} where id = ${schedule.id}`;
      };

      test('each has its agent, its next times and what became of the last ones, and no message or payload', async () => {
        const agent = await newAgent(at(), { name: 'Ledger' });
        const when = { cron_expression: '30 2 * * 1-5', timezone: 'Europe/Berlin' };
        const content = { work_item_name: 'Close', message: 'm', payload: { a: 1 } };
        const schedule = await newSchedule(at(), agent.id, { ...when, ...content });
        const [empty] = await list();
        const { message: _, payload: __, metadata: ___, agent_id: ____, ...listed } = schedule;
        expect(empty).toEqual({
          ...listed,
          agent: { id: agent.id, name: 'Ledger' },
          cost: { last_24h: 0, last_30d: 0 },
          description: 'At 02:30, Monday through Friday',
          last: null,
          recent: [],
          upcoming: Array(3).fill(expect.any(Object)),
          paused: null,
          blocked_reason: null,
          overdue: null,
        });
        expect(empty.upcoming[0]).toEqual({
          at: schedule.next_run_at,
          local: expect.stringMatching(/T02:30:00\+0[12]:00$/),
          dst: null,
        });
        const item = await ok(at().app.post(`/agents/${agent.id}/schedules/${schedule.id}/run`));
        for (let n = 0; n < 21; n++) await record(schedule, 'fired');
        await record(schedule, 'caught_up', { late: 300_000, item: item.id });
        const [row] = await list();
        expect(row.recent.length).toBe(20);
        expect(row.recent[0]).toEqual({
          scheduled_for: row.last.scheduled_for,
          status: 'caught_up',
          cause: null,
          count: 1,
          work_item_id: item.id,
        });
        expect(row.last).toMatchObject({
          outcome: 'caught_up',
          lateness_ms: 300_000,
          reason: expect.stringMatching(/^Caught up 5 min late\. /),
          work_item: { id: item.id, status: 'PENDING' },
        });
      });

      test('says by whom and why one is paused, from what one is blocked, and which one is overdue', async () => {
        const schedules = await named('a', 'paused', 'blocked', 'failing', 'overdue');
        const [paused, blocked, failing, overdue] = schedules;
        await ok(at().app.post(`${path(paused)}/pause`, { reason: 'holiday' }));
        await at().sql`update schedules set next_run_at = null where id = ${blocked.id}`;
        await record(failing, 'skipped', { reason: 'the Work Item could not be made (error 22021)' });
        await at()
          .sql`update schedules set next_run_at = ${iso(Date.now() - minute)} where id = ${overdue.id}`;
        const rows = new Map((await list()).map((row) => [row.work_item_name, row]));
        expect(rows.get('paused')).toMatchObject({
          paused: { at: expect.stringMatching(time), by: expect.any(String), reason: 'holiday' },
          upcoming: [],
          next_run_at: null,
        });
        expect(rows.get('blocked').blocked_reason).toMatch(/^No next time .* can be computed/);
        expect(rows.get('failing').blocked_reason).toMatch(/could not be made \(error 22021\)\.$/);
        expect(rows.get('failing').last.cause).toBe('blocked');
        expect(rows.get('overdue').overdue).toMatchObject({
          since: expect.stringMatching(time),
          reason: expect.stringMatching(/^No replica is scheduling/),
        });
        expect(Date.parse(rows.get('overdue').upcoming[0].at)).toBeGreaterThan(Date.now());
        expect(await names('state=paused')).toEqual(['paused']);
        expect((await names('state=blocked')).sort()).toEqual(['blocked', 'failing']);
        expect((await names('state=enabled')).sort()).toEqual(['blocked', 'failing', 'overdue']);
        await record(failing, 'fired', { ago: 0 });
        expect(await names('state=blocked')).toEqual(['blocked']);
      });

      test('is filtered by name, id, agent, zone and last outcome, which total counts', async () => {
        const [one, two] = await named('Alpha', 'first 100%', 'second');
        const [three] = await named('Beta', 'third');
        await at().sql`update schedules set timezone = 'Asia/Tokyo' where id = ${three.id}`;
        await record(one, 'fired');
        await record(two, 'fired', { late: 20_000 });
        await record(two, 'fired', { late: 20_000 });
        await record(three, 'skipped', { reason: 'missed' });
        expect(await names('q=SECOND')).toEqual(['second']);
        expect(await names('q=alph')).toEqual(['first 100%', 'second']);
        expect(await names('q=100%25')).toEqual(['first 100%']);
        expect(await names('q=%25')).toEqual(['first 100%']);
        expect(await names(`q=${three.id}`)).toEqual(['third']);
        expect(await names(`agent_id=${three.agent_id}`)).toEqual(['third']);
        expect(await names('agent_id=x')).toEqual([]);
        expect(await names('zone=Asia/Tokyo')).toEqual(['third']);
        expect(await names('outcome=on_time')).toEqual(['first 100%']);
        expect(await names('outcome=late')).toEqual(['second']);
        expect((await names('outcome=fired')).length).toBe(2);
        expect(await names('outcome=skipped')).toEqual(['third']);
        expect(await names(`ids=${one.id},${unknownId},x`)).toEqual(['first 100%']);
        const page = await ok(at().app.get('/schedules?q=alph&limit=1'));
        expect([page.data.length, page.total, page.has_more]).toEqual([1, 2, true]);
      });

      test.each([
        ['next', ['charlie', 'alpha', null, 'delta', 'Bravo']],
        ['last', ['charlie', 'alpha', 'delta', 'Bravo', null]],
        ['name', [null, 'alpha', 'Bravo', 'charlie', 'delta']],
      ])('pages in the order of %s have each schedule once', async (sort, expected) => {
        const made = await named('A', 'delta', 'Bravo', 'charlie', 'alpha', 'echo');
        await at().sql`update schedules set work_item_name = null where id = ${made[4].id}`;
        await at().sql`update schedules set next_run_at = null where id in (${made[0].id}, ${made[1].id})`;
        const last = iso(Date.now() - minute);
        await at().sql`update schedules set last_run_at = ${last} where id in (${made[2].id}, ${made[3].id})`;
        const all = await names(`sort=${sort}`);
        expect(all).toEqual(expected);
        const walked: unknown[] = [];
        for (let next = ''; ; ) {
          const page = await ok(at().app.get(`/schedules?sort=${sort}&limit=2&next=${next}`));
          walked.push(...page.data.map((row: Json) => row.work_item_name));
          expect(page.has_more).toBe(page.next !== '');
          next = page.next;
          if (next === '') break;
        }
        expect(walked).toEqual(all);
        const other = sort === 'name' ? 'next' : 'name';
        const { next } = await ok(at().app.get(`/schedules?sort=${sort}&limit=2`));
        expectError(await at().app.get(`/schedules?sort=${other}&next=${next}`), 422, /next/);
      });

      test('what is recorded of an occurrence is what its schedule is found by', async () => {
        const schedules = await named('A', 'fired', 'missed', 'poison', 'paused', 'edited', 'byHand');
        const [fired, missed, poison, paused, edited, byHand] = schedules;
        const none = { on_time: [], late: [], caught_up: [], skipped: [], manual: [] };
        const found = async (): Promise<Record<string, string[]>> => {
          const all: Record<string, string[]> = {};
          for (const outcome of Object.keys(none)) all[outcome] = (await names(`outcome=${outcome}`)).sort();
          return all;
        };
        expect(await found()).toEqual(none);
        const put = (schedule: Json, fields: object) => {
          const { work_item_name } = schedule;
          return ok(
            at().api.put(path(schedule), { cron_expression: '* * * * *', work_item_name, ...fields }),
          );
        };
        for (const schedule of [fired, missed, poison, paused, edited]) await put(schedule, {});
        await put(missed, { catch_up: false });
        await put(missed, { catch_up: false, cron_expression: '0 0 1 1 *' });
        const year = `${new Date().getUTCFullYear()}-01-01T00:00:00.000Z`;
        const due = iso(Math.floor(Date.now() / minute) * minute);
        await at()
          .sql`update schedules set next_run_at = ${due} where id in (${fired.id}, ${poison.id}, ${paused.id}, ${edited.id})`;
        await at().sql`update schedules set next_run_at = ${year} where id = ${missed.id}`;
        await at().sql`update schedules set timezone = 'Nowhere/Land' where id = ${poison.id}`;
        await ok(at().app.post(`${path(paused)}/pause`));
        await put(edited, { cron_expression: '0 0 1 1 *' });
        await ok(at().app.post(`${path(byHand)}/run`));
        const { firing } = at().test.platform.features.schedules;
        while ((await firing.fireDue()) > 0);
        const { on_time, late, ...others } = await found();
        expect([...on_time!, ...late!]).toEqual(['fired']);
        const skipped = ['edited', 'missed', 'paused', 'poison'];
        expect(others).toEqual({ caught_up: [], skipped, manual: ['byHand'] });
        expect(await names('state=blocked')).toEqual(['poison']);
        await put(missed, { cron_expression: '0 0 1 1 *' });
        await at().sql`update schedules set next_run_at = ${year} where id = ${missed.id}`;
        while ((await firing.fireDue()) > 0);
        expect(await names('outcome=caught_up')).toEqual(['missed']);
      });

      test('nothing is sent again while nothing has changed', async () => {
        const [schedule] = await named('A', 'one');
        const tag = (await at().app.get('/schedules')).headers.get('etag')!;
        const get = () => at().app.get('/schedules', { headers: { 'if-none-match': tag } });
        expect((await get()).status).toBe(304);
        await record(schedule, 'fired');
        expect((await get()).status).toBe(200);
      });

      test('one is found without its agent, with all that its page shows', async () => {
        const [schedule] = await named('A', 'one');
        await record(schedule, 'fired');
        await record(schedule, 'fired', { late: 20_000 });
        await record(schedule, 'skipped', { reason: 'missed', count: 3 });
        await record(schedule, 'manual');
        const response = await at().app.get(`/schedules/${schedule.id}`);
        expect(response.headers.get('etag')).toBe('"1"');
        expect(response.body).toMatchObject({
          ...schedule,
          next_run_at: expect.any(String),
          agent: { id: schedule.agent_id, name: 'A' },
          last: { outcome: 'manual' },
          punctuality: { total: 5, on_time: 1 },
        });
        expect(response.body.upcoming.length).toBe(10);
      });
    },
    { ROLES: 'api,delivery' },
  );
});
