import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { force } from '../harness/work-items.ts';
import { expectError, faults, newAgent, newSchedule, ok, onPostgres, unknownId } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;
const idsOf = ({ data }: Json): string[] => data.map(({ id }: Json) => id);
const statuses = 'DRAFT PENDING EXECUTING NEEDS_REVIEW INDETERMINATE COMPLETED ERROR CANCELLED';
const noCounts = Object.fromEntries(statuses.split(' ').map((status) => [status, 0]));

onPostgres((at) => {
  const list = (filter: string) => at().app.get(`/work-items?${filter}`);
  const draft = async (agentId: string, more: object = {}): Promise<Json> =>
    ok(at().api.post('/work-items', { agent_id: agentId, draft: true, ...more }));
  /** Sets columns that only a run would set. */
  const set = (id: string, columns: ReturnType<typeof sql>) =>
    at().sql`update work_items set ${columns} where id = ${id}`;

  describe('GET /app/api/work-items', () => {
    let agent: Json;
    let other: Json;
    let items: Json[];
    beforeAll(async () => {
      agent = await newAgent(at(), { name: 'First' });
      other = await newAgent(at(), { name: 'Second' });
      const names = ['Nightly close', 'nightly sweep', 'Invoice 1', 'Invoice 2'];
      items = [];
      for (const [i, work_item_name] of names.entries()) {
        items.push(await draft(i < 3 ? agent.id : other.id, { work_item_name, message: 'x'.repeat(500) }));
      }
      const ended = (seconds: number, at: string) =>
        sql`started_at = ${at}::timestamptz - ${seconds} * interval '1 second', finished_at = ${at}::timestamptz`;
      await force(at().db, items[0].id, 'COMPLETED');
      await set(items[0].id, ended(30, '2026-01-01T10:00:00Z'));
      await force(at().db, items[1].id, 'ERROR');
      const error = JSON.stringify({ code: 'max_steps', message: 'm'.repeat(300) });
      await set(items[1].id, sql`${ended(10, '2026-01-02T10:00:00Z')}, error = ${error}::jsonb`);
      await force(at().db, items[2].id, 'NEEDS_REVIEW');
      await set(items[2].id, sql`review_reason = 'Is the sum right?', updated_at = '2026-01-03T10:00:00Z'`);
    });
    const both = () => `agent_id=${agent.id}&agent_id=${other.id}`;
    const found = async (filter: string): Promise<number[]> =>
      idsOf(await ok(list(`${both()}&${filter}`))).map((id) => items.findIndex((item) => item.id === id));

    test('a record has names and facts, and no message, payload or result', async () => {
      const { data } = await ok(list(`ids=${items[1].id}`));
      expect(data).toEqual([
        {
          id: items[1].id,
          work_item_name: 'nightly sweep',
          status: 'ERROR',
          allowed_actions: ['continue', 'restart', 'complete'],
          agent: { id: agent.id, name: 'First', exists: true },
          schedule: null,
          trigger: null,
          occurrence_id: null,
          source: 'api',
          created_by: items[1].created_by,
          created_by_name: expect.any(String),
          scheduled_for: null,
          start_at: null,
          lateness_ms: null,
          duration_ms: 10_000,
          max_attempts: 3,
          waiting: null,
          created_at: items[1].created_at,
          updated_at: expect.any(String),
          started_at: '2026-01-02T09:59:50.000Z',
          finished_at: '2026-01-02T10:00:00.000Z',
          cancel_requested_at: null,
          attempts: 0,
          cost_nano_usd: 0,
          unknown_calls: 0,
          model: null,
          usage: null,
          error: { code: 'max_steps', message: 'm'.repeat(200) },
        },
      ]);
    });

    test.each([
      ['', [3, 2, 1, 0]],
      ['status=ERROR', [1]],
      ['status=ERROR&status=COMPLETED', [1, 0]],
      ['status=ERROR,DRAFT', [3, 1]],
      ['error_code=max_steps', [1]],
      ['error_code=other', []],
      ['source=api', [3, 2, 1, 0]],
      ['source=person', []],
      ['source=schedule', []],
      ['finished_from=2026-01-01T10:00:00Z', [1, 0]],
      ['finished_to=2026-01-02T10:00:00Z', []],
      ['created_to=2026-01-01T00:00:00Z', []],
      ['created_from=2026-01-01T00:00:00Z&q=nightly', [1, 0]],
      ['q=NIGHTLY%20S', [1]],
      ['q=ightly', []],
      ['q=invoice&status=NEEDS_REVIEW', [2]],
      ['q=%25', []],
      ['sort=finished', [1, 0, 3, 2]],
      ['sort=duration', [0, 1, 3, 2]],
      ['sort=waiting', [2, 3, 1, 0]],
      ['sort=waiting&status=NEEDS_REVIEW&status=INDETERMINATE', [2]],
      ['sort=duration&status=ERROR', [1]],
    ])('%j finds %j', async (filter, expected) => {
      expect(await found(filter)).toEqual(expected);
    });

    test('q is the beginning of an id, of any length', async () => {
      const { id } = items[2];
      for (const length of [8, 9, 13, 36]) expect(await found(`q=${id.slice(0, length)}`)).toContain(2);
      expect(await found(`q=${id}`)).toEqual([2]);
      expect(await found(`q=${id.toUpperCase().slice(0, 30)}`)).toEqual([2]);
      expect(await found(`q=${id.slice(0, 1)}`)).toEqual([3, 2, 1, 0]);
      expect(await found(`q=${id.slice(0, 7)}-`)).toEqual([]);
      expect(await found('q=ffffffff')).toEqual([]);
    });

    test('counts are of all statuses, whatever the filter of the status', async () => {
      const counts = { ...noCounts, DRAFT: 1, NEEDS_REVIEW: 1, COMPLETED: 1, ERROR: 1 };
      expect((await ok(list(`${both()}&status=ERROR&counts=1`))).counts).toEqual(counts);
      const night = { ...noCounts, COMPLETED: 1, ERROR: 1 };
      expect((await ok(list(`${both()}&counts=1&q=night`))).counts).toEqual(night);
      expect((await ok(list(`agent_id=${unknownId}&counts=1`))).counts).toEqual(noCounts);
      expect(await ok(list(both()))).not.toHaveProperty('counts');
    });

    test('ids find all of them in one page, and leave out what does not match or does not exist', async () => {
      const wanted = [items[3].id, unknownId, 'nonsense', items[0].id];
      expect(await found(`limit=1&ids=${wanted.join(',')}`)).toEqual([3, 0]);
      expect(await found(`ids=${wanted.join('&ids=')}&status=DRAFT`)).toEqual([3]);
      expect(await found('ids=nonsense')).toEqual([]);
    });

    test.each(['created', 'finished', 'duration', 'waiting'])(
      'pages sorted by %s have each record once, and a cursor of another order is refused',
      async (sort) => {
        const page = (more: string) => ok(list(`${both()}&sort=${sort}&${more}`));
        const { data, next } = await page('limit=1');
        const { data: rest } = await page(`next=${next}`);
        expect([...data, ...rest]).toEqual((await page('')).data);
        const other = sort === 'created' ? 'finished' : 'created';
        expectError(await list(`${both()}&sort=${other}&next=${next}`), 422);
      },
    );

    test('lists of words and ids are limited, and an empty text is 422', async () => {
      for (const [name, value] of [
        ['status', 'DRAFT,OPEN'],
        ['status', ''],
        ['q', ''],
        ['agent_id', Array(51).fill(unknownId).join(',')],
        ['ids', Array(201).fill(unknownId).join(',')],
      ]) {
        const response = await list(`${name}=${value}`);
        expectError(response, 422);
        expect(faults(response)).toEqual([name]);
      }
    });

    test('is 304 while nothing has changed', async () => {
      const first = await list(`${both()}&counts=1`);
      const again = await at().app.get(`/work-items?${both()}&counts=1`, {
        headers: { 'if-none-match': first.headers.get('etag')! },
      });
      expect(again.status).toBe(304);
    });

    test('what a person made is found as theirs, after they are gone as well', async () => {
      const ada = await newPerson(at(), 'member');
      const mine = await ok(at().as(ada.value).post('/work-items', { agent_id: agent.id, draft: true }));
      const source = async (name: string) => (await ok(list(`agent_id=${agent.id}&source=${name}`))).data;
      const shown = { id: mine.id, source: 'person', created_by_name: 'Ada' };
      expect(await source('person')).toMatchObject([shown]);
      expect((await source('api')).map((r: Json) => r.id)).not.toContain(mine.id);
      await ok(at().api.delete(`/users/${ada.id}`), 204);
      expect(await source('person')).toMatchObject([shown]);
      await at().sql`delete from work_items where id = ${mine.id}`;
    });

    test('newer counts what matches and was created later', async () => {
      const newer = (filter: string) => at().app.get(`/work-items/newer?${both()}&${filter}`);
      expect(await ok(newer(`than=${items[1].id}`))).toEqual({ count: 2, more: false });
      expect(await ok(newer(`than=${items[1].id}&status=DRAFT`))).toEqual({ count: 1, more: false });
      expect(await ok(newer(`than=${items[0].id}&q=nightly`))).toEqual({ count: 1, more: false });
      expect(await ok(newer(`than=${items[3].id}`))).toEqual({ count: 0, more: false });
      await at()
        .sql`insert into work_items (id, agent_id, message, payload, status, created_by, conversation_id)
          select new_id(), ${agent.id}, '', '{}', 'CANCELLED', 'x', new_id() from generate_series(1, 101)`;
      expect(await ok(newer(`than=${items[3].id}`))).toEqual({ count: 100, more: true });
      await at().sql`delete from work_items where created_by = 'x'`;
      expectError(await newer(`than=${unknownId}`), 422);
      expectError(await newer(''), 400);
    });
  });

  test('a Work Item of a schedule has its name, nominal time and lateness', async () => {
    const agent = await newAgent(at());
    const schedule = await newSchedule(at(), agent.id, { work_item_name: 'Report' });
    const { id } = await draft(agent.id);
    await set(
      id,
      sql`schedule_id = ${schedule.id}, occurrence = created_at - interval '1500 ms', created_by = 'scheduler'`,
    );
    const [record] = (await ok(list(`schedule_id=${schedule.id}&source=schedule`))).data;
    expect(record).toMatchObject({
      id,
      source: 'schedule',
      schedule: { id: schedule.id, name: 'Report', exists: true },
      lateness_ms: 1500,
      created_by_name: null,
    });
    await ok(at().api.delete(`/agents/${agent.id}`), 204);
    expect((await ok(list(`ids=${id}`))).data[0]).toMatchObject({
      agent: { id: agent.id, name: null, exists: false },
      schedule: { id: schedule.id, name: null, exists: false },
    });
  });
});
