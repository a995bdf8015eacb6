import { describe, expect, test } from 'vitest';
import { expectError, faults, newKey, ok, withPlatform } from './fixture.ts';

describe('a preview', () =>
  withPlatform('postgres', (at) => {
    const preview = (body: object) => at().app.post('/schedules/preview', body);
    const berlin = (cron_expression: string, after: string, count: number) =>
      ok(preview({ cron_expression, timezone: 'Europe/Berlin', after, count }));

    test('in a repeated hour a fixed schedule fires the first time only', async () => {
      expect((await berlin('30 2 * * *', '2026-10-24T12:00:00Z', 2)).occurrences).toEqual([
        { at: '2026-10-25T00:30:00.000Z', local: '2026-10-25T02:30:00+02:00', dst: 'overlap' },
        { at: '2026-10-26T01:30:00.000Z', local: '2026-10-26T02:30:00+01:00', dst: null },
      ]);
    });

    test('in a repeated hour an elapsed schedule fires both times', async () => {
      expect((await berlin('30 * * * *', '2026-10-24T23:45:00Z', 4)).occurrences).toEqual([
        { at: '2026-10-25T00:30:00.000Z', local: '2026-10-25T02:30:00+02:00', dst: 'overlap' },
        { at: '2026-10-25T01:30:00.000Z', local: '2026-10-25T02:30:00+01:00', dst: 'overlap' },
        { at: '2026-10-25T02:30:00.000Z', local: '2026-10-25T03:30:00+01:00', dst: null },
        { at: '2026-10-25T03:30:00.000Z', local: '2026-10-25T04:30:00+01:00', dst: null },
      ]);
    });

    test('a fixed schedule in a skipped hour fires once, at the first instant after it', async () => {
      for (const expression of ['30 2 * * *', '*/30 2 * * *', '0,30 2,3 * * *']) {
        const { occurrences } = await berlin(expression, '2027-03-27T12:00:00Z', 2);
        expect(occurrences[0]).toEqual({
          at: '2027-03-28T01:00:00.000Z',
          local: '2027-03-28T03:00:00+02:00',
          dst: 'gap',
        });
        expect(occurrences[1].at > '2027-03-28T01:00:00.000Z').toBe(true);
      }
    });

    test('an elapsed schedule does not fire in a skipped hour', async () => {
      expect((await berlin('30 * * * *', '2027-03-28T00:00:00Z', 2)).occurrences).toEqual([
        { at: '2027-03-28T00:30:00.000Z', local: '2027-03-28T01:30:00+01:00', dst: null },
        { at: '2027-03-28T01:30:00.000Z', local: '2027-03-28T03:30:00+02:00', dst: null },
      ]);
    });

    test('the day that Samoa left out has no occurrence', async () => {
      const body = {
        cron_expression: '0 12 * * *',
        timezone: 'Pacific/Apia',
        after: '2011-12-29T12:00:00Z',
        count: 2,
      };
      expect((await ok(preview(body))).occurrences.map(({ local }: { local: string }) => local)).toEqual([
        '2011-12-29T12:00:00-10:00',
        '2011-12-31T12:00:00+14:00',
      ]);
    });

    test('has ten occurrences by default, or one to a hundred, all after the given instant, whatever its offset', async () => {
      const body = { cron_expression: '0 0 * * *' };
      const ten = await ok(preview(body));
      expect(ten.occurrences.length).toBe(10);
      expect(ten.description).toMatch(/00:00/);
      expect((await ok(preview({ ...body, count: 100 }))).occurrences.length).toBe(100);
      expect(
        (await ok(preview({ ...body, count: null, after: null, timezone: null }))).occurrences.length,
      ).toBe(10);
      for (const after of ['2027-01-01T00:00:00Z', '2027-01-01T02:00:00+02:00', '2027-01-01T00:00:00.000Z']) {
        const { occurrences } = await ok(preview({ ...body, after, count: 1 }));
        expect(occurrences).toEqual([
          { at: '2027-01-02T00:00:00.000Z', local: '2027-01-02T00:00:00+00:00', dst: null },
        ]);
      }
      for (const [bad, path] of [
        [{ count: 0 }, 'count'],
        [{ count: 101 }, 'count'],
        [{ count: 1.5 }, 'count'],
        [{ count: '5' }, 'count'],
        [{ after: 'tomorrow' }, 'after'],
        [{ after: 5 }, 'after'],
        [{ after: '2027-01-01' }, 'after'],
        [{ after: '2027-02-30T00:00:00Z' }, 'after'],
      ] as const) {
        const response = await preview({ ...body, ...bad });
        expectError(response, 422);
        expect(faults(response)).toEqual([path]);
      }
      expectError(await preview({}), 400, /cron_expression/);
      expect((await ok(preview({ ...body, after: '2100-12-30T12:00:00Z' }))).occurrences.length).toBe(1);
      expect((await ok(preview({ ...body, after: '9999-12-31T23:59:59Z' }))).occurrences).toEqual([]);
      expect(
        (await ok(preview({ ...body, after: '0001-01-01T00:00:00Z', count: 1 }))).occurrences.length,
      ).toBe(1);
    });

    test('says how often it fires, and which local times the clock skips in the next year', async () => {
      const often = async (cron_expression: string, more: object = {}) => {
        const { per_day, per_year } = await ok(
          preview({ cron_expression, after: '2026-06-01T00:00:00Z', ...more }),
        );
        return [per_day, per_year];
      };
      expect(await often('*/5 6-19 * * *')).toEqual([168, 61_320]);
      expect(await often('30 2 * * 1-5')).toEqual([0.7153, 261]);
      expect(await often('0 0 1 * *')).toEqual([0.03285, 12]);
      expect(await often('0 0 29 2 *')).toEqual([0.0006845, 0]);
      const skipped = async (cron_expression: string, timezone: string, after = '2026-06-01T00:00:00Z') =>
        (await ok(preview({ cron_expression, timezone, after }))).skipped_local_times;
      expect(await skipped('*/30 2 * * *', 'Europe/Berlin')).toEqual([
        { local: '2027-03-28T02:00:00', at: '2027-03-28T01:00:00.000Z' },
        { local: '2027-03-28T02:30:00', at: '2027-03-28T01:00:00.000Z' },
      ]);
      expect(await skipped('30 * * * *', 'Europe/Berlin')).toEqual([
        { local: '2027-03-28T02:30:00', at: null },
      ]);
      expect((await skipped('* * * * *', 'Europe/Berlin')).length).toBe(60);
      expect(await skipped('0 3 * * *', 'Europe/Berlin')).toEqual([]);
      expect(await skipped('30 2 * * *', 'UTC')).toEqual([]);
      expect(await skipped('0 12 * * *', 'Pacific/Apia', '2011-06-01T00:00:00Z')).toEqual([
        { local: '2011-12-30T12:00:00', at: null },
      ]);
    });

    test('says the offset of the zone and when its clocks change', async () => {
      const zone = async (timezone: string) =>
        (await ok(preview({ cron_expression: '0 9 * * *', timezone }))).zone;
      const listed = async (q: string) => (await ok(at().app.get(`/time-zones?q=${q}&limit=1`))).data[0];
      expect(await zone('Europe/Berlin')).toEqual(await listed('Europe/Berlin'));
      expect(await zone('Asia/Kolkata')).toEqual({
        name: 'Asia/Kolkata',
        offset: '+05:30',
        next_transition: null,
      });
    });

    test('a refusal suggests what was probably meant', async () => {
      for (const [body, suggestion] of [
        [{ cron_expression: '@daily' }, '0 0 * * *'],
        [{ cron_expression: '0 9 * * FRI-SUN' }, '0 9 * * FRI-7'],
        [{ cron_expression: '0 9 * * *', timezone: 'europe/berlin' }, 'Europe/Berlin'],
      ] as const) {
        expectError(await preview(body), 400, /write|written/, { suggestion });
      }
      expectError(await preview({ cron_expression: '0 9 30 2 *' }), 400, /never occurs/);
      expectError(await preview({ cron_expression: 'every day' }), 400, /fields/);
    });

    test('the time zones: those that match, with their offset and the next change of their clocks', async () => {
      const list = async (query: string) => (await ok(at().app.get(`/time-zones?${query}`))).data;
      const names = async (q: string) => (await list(`q=${q}`)).map(({ name }: { name: string }) => name);
      expect((await names('berl'))[0]).toBe('Europe/Berlin');
      expect((await names('New%20York'))[0]).toBe('America/New_York');
      expect((await names('utc'))[0]).toBe('UTC');
      expect(await names('nowhere')).toEqual([]);
      expect((await names('')).length).toBe(50);
      expect((await list('limit=1000')).length).toBeGreaterThan(590);
      const [berlin] = await list('q=europe/berlin');
      expect(berlin.offset).toMatch(/^\+0[12]:00$/);
      expect(Date.parse(berlin.next_transition.at)).toBeGreaterThan(Date.now());
      expect(berlin.next_transition.offset).not.toBe(berlin.offset);
      expect((await list('q=Asia/Kolkata'))[0]).toEqual({
        name: 'Asia/Kolkata',
        offset: '+05:30',
        next_transition: null,
      });
      const first = await at().app.get('/time-zones?q=berlin');
      const again = await at().app.get('/time-zones?q=berlin', {
        headers: { 'if-none-match': first.headers.get('etag')! },
      });
      expect(again.status).toBe(304);
      expectError(await at().app.get('/time-zones?limit=0'), 422);
    });

    test('a member may ask for it; without a key it is 401', async () => {
      const member = (await newKey(at(), 'member')).value;
      await ok(at().as(member, '/app/api').post('/schedules/preview', { cron_expression: '* * * * *' }));
      expectError(await at().as(undefined, '/app/api').post('/schedules/preview', {}), 401);
    });
  }));
