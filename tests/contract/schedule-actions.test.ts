import { afterEach, expect, test } from 'vitest';
import {
  describeOnPostgres,
  expectError,
  faults,
  newAgent,
  newKey,
  newSchedule,
  ok,
  unknownId,
} from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

describeOnPostgres(
  'actions on many schedules',
  (at) => {
    afterEach(async () => {
      await at().sql`delete from agents`;
    });
    const make = async (count: number, name = 'A'): Promise<Json[]> => {
      const agent = await newAgent(at(), { name });
      const made: Json[] = [];
      for (let n = 0; n < count; n++) made.push(await newSchedule(at(), agent.id));
      return made;
    };
    const idsOf = (schedules: Json[]) => schedules.map(({ id }) => id);
    const act = (body: object) => at().app.post('/schedules/actions', body);
    const enabled = async () =>
      (await at().sql`select enabled from schedules order by id`).map((row) => row.enabled);
    const audits = async (action: string) =>
      (await ok(at().api.get(`/audits?action=schedule.${action}`))).data.filter(
        ({ target_id }: Json) => target_id === null,
      );

    test('a pause by ids changes those that are enabled, and says why it refuses the others', async () => {
      const [one, two, three] = await make(3);
      await ok(at().app.post(`/agents/${two.agent_id}/schedules/${two.id}/pause`));
      const body = {
        action: 'pause',
        ids: [one.id, two.id, three.id, one.id, unknownId, 'x'],
        reason: 'night',
      };
      const refused = [
        { id: unknownId, reason: 'The schedule does not exist.' },
        { id: 'x', reason: 'The schedule does not exist.' },
        { id: two.id, reason: 'It is paused already.' },
      ];
      expect(await ok(act({ ...body, dry_run: true }))).toEqual({
        dry_run: true,
        matched: 3,
        would_change: 2,
        changed: 0,
        refused,
      });
      expect(await enabled()).toEqual([true, false, true]);
      expect(await audits('pause')).toEqual([]);
      expect(await ok(act(body))).toEqual({
        dry_run: false,
        matched: 3,
        would_change: 2,
        changed: 2,
        refused,
      });
      expect(await enabled()).toEqual([false, false, false]);
      const [entry, ...others] = await audits('pause');
      expect(others).toEqual([]);
      expect(entry.details).toEqual({
        count: 2,
        refused: 3,
        ids: [one.id, three.id].sort(),
        reason: 'night',
      });
      const path = `/agents/${one.agent_id}/schedules/${one.id}`;
      const { data } = await ok(at().app.get(`${path}/history`));
      expect(data[0]).toMatchObject({ action: 'pause', reason: 'night', revision: 2 });
      expect((await at().api.get(path)).headers.get('etag')).toBe('"2"');
      expect((await ok(at().api.get(path))).next_run_at).toBeNull();
    });

    test('a pause of what is due records it as skipped; a resume plans the next occurrence and wakes the loop', async () => {
      const schedules = await make(2);
      await at().sql`update schedules set next_run_at = platform_now() - interval '1 minute'`;
      await ok(act({ action: 'pause', ids: idsOf(schedules) }));
      for (const { agent_id, id } of schedules) {
        const { data } = await ok(at().app.get(`/agents/${agent_id}/schedules/${id}/occurrences`));
        expect(data).toMatchObject([{ outcome: 'skipped', cause: 'paused' }]);
      }
      const resumed = await ok(act({ action: 'resume', ids: idsOf(schedules), reason: 'morning' }));
      expect(resumed).toMatchObject({ changed: 2, refused: [] });
      for (const { agent_id, id } of schedules) {
        const path = `/agents/${agent_id}/schedules/${id}`;
        expect(Date.parse((await ok(at().api.get(path))).next_run_at)).toBeGreaterThan(Date.now());
        expect((await ok(at().app.get(`${path}/history`))).data[0]).toMatchObject({
          action: 'resume',
          reason: 'morning',
        });
      }
      expect(await ok(act({ action: 'resume', ids: [schedules[0].id] }))).toMatchObject({
        changed: 0,
        refused: [{ id: schedules[0].id, reason: 'It is not paused.' }],
      });
    });

    test('a schedule whose zone is gone is not resumed, and keeps no other from it', async () => {
      const schedules = await make(2);
      await ok(act({ action: 'pause', ids: idsOf(schedules) }));
      await at().sql`update schedules set timezone = 'Nowhere/Land' where id = ${schedules[0].id}`;
      expect(await ok(act({ action: 'resume', ids: idsOf(schedules) }))).toMatchObject({
        changed: 1,
        refused: [{ id: schedules[0].id, reason: expect.stringMatching(/`Nowhere\/Land` is not known/) }],
      });
    });

    test('by a filter it needs the number that was seen, and changes nothing if it is another', async () => {
      const alpha = await make(3, 'Alpha');
      await make(2, 'Beta');
      const filter = { q: 'alpha', state: 'enabled' };
      expect(await ok(act({ action: 'pause', filter, dry_run: true }))).toMatchObject({
        matched: 3,
        would_change: 3,
      });
      expectError(await act({ action: 'pause', filter }), 400, /expected_count: is required/);
      expectError(
        await act({ action: 'pause', filter, expected_count: 4 }),
        412,
        /3 schedules match, and 4/,
        { matched: 3 },
      );
      expect((await enabled()).every(Boolean)).toBe(true);
      expect(await ok(act({ action: 'pause', filter, expected_count: 3 }))).toMatchObject({ changed: 3 });
      const { data } = await ok(at().app.get('/schedules?state=paused'));
      expect(idsOf(data).sort()).toEqual(idsOf(alpha).sort());
      expect((await audits('pause'))[0].details).toMatchObject({ count: 3, filter });
      expectError(await act({ action: 'pause', ids: idsOf(alpha), expected_count: 2 }), 412, /expected/, {
        matched: 3,
      });
      // An empty filter is all of them.
      expect(await ok(act({ action: 'delete', filter: {}, expected_count: 5 }))).toMatchObject({
        changed: 5,
      });
      expect((await ok(at().app.get('/schedules'))).data).toEqual([]);
      expect((await audits('delete'))[0].details).toMatchObject({ count: 5, filter: {} });
    });

    test('of two at once each schedule is changed by one', async () => {
      const schedules = await make(20);
      const ids = idsOf(schedules);
      const results = await Promise.all([
        ok(act({ action: 'pause', ids })),
        ok(act({ action: 'pause', ids: ids.toReversed() })),
        ok(act({ action: 'pause', filter: {}, expected_count: 20 })),
      ]);
      expect(results.map(({ changed }) => changed).sort((a, b) => a - b)).toEqual([0, 0, 20]);
    });

    test('what is wrong with the body, and who may', async () => {
      const [schedule] = await make(1);
      const ids = [schedule.id];
      expectError(await act({ action: 'pause' }), 400, /`filter`/);
      expectError(await act({ ids }), 400, /action/);
      for (const [body, path] of [
        [{ action: 'run', ids }, 'action'],
        [{ action: 'pause', ids, filter: {} }, 'filter'],
        [{ action: 'pause', filter: { state: 'x' }, expected_count: 1 }, 'filter.state'],
        [{ action: 'pause', ids, expected_count: -1 }, 'expected_count'],
        [{ action: 'pause', ids, reason: 'x'.repeat(1_001) }, 'reason'],
        [{ action: 'pause', ids: Array(1_001).fill(schedule.id) }, 'ids'],
      ] as const) {
        const response = await act(body);
        expectError(response, 422);
        expect(faults(response)).toEqual([path]);
      }
      const member = at().as((await newKey(at(), 'member')).value, '/app/api');
      expectError(await member.post('/schedules/actions', { action: 'pause', ids, dry_run: true }), 403);
      const builder = at().as((await newKey(at(), 'builder')).value, '/app/api');
      expect(await ok(builder.post('/schedules/actions', { action: 'pause', ids }))).toMatchObject({
        changed: 1,
      });
    });
  },
  { ROLES: 'api,delivery' },
);
