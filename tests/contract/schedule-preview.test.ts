import { describe, expect, test } from 'vitest';
import { expectError, faults, newKey, ok, withPlatform } from './fixture.ts';

describe('a preview', () =>
  withPlatform('postgres', (at) => {
    const preview = (body: object) => at().app.post('/schedules/preview', body);
    const berlin = (cron_expression: string, after: string, count: number) =>
      ok(preview({ cron_expression, timezone: 'Europe/Berlin', after, count }));

    test('a repeated hour: a fixed schedule fires the first time', async () => {
      expect((await berlin('30 2 * * *', '2026-10-24T12:00:00Z', 2)).occurrences).toEqual([
        { at: '2026-10-25T00:30:00.000Z', local: '2026-10-25T02:30:00+02:00', dst: 'overlap' },
        { at: '2026-10-26T01:30:00.000Z', local: '2026-10-26T02:30:00+01:00', dst: null },
      ]);
    });

    test('a repeated hour: an elapsed schedule fires both times', async () => {
      expect((await berlin('30 * * * *', '2026-10-24T23:45:00Z', 4)).occurrences).toEqual([
        { at: '2026-10-25T00:30:00.000Z', local: '2026-10-25T02:30:00+02:00', dst: 'overlap' },
        { at: '2026-10-25T01:30:00.000Z', local: '2026-10-25T02:30:00+01:00', dst: 'overlap' },
        { at: '2026-10-25T02:30:00.000Z', local: '2026-10-25T03:30:00+01:00', dst: null },
        { at: '2026-10-25T03:30:00.000Z', local: '2026-10-25T04:30:00+01:00', dst: null },
      ]);
    });

    test('a skipped hour: a fixed schedule fires once, at the first instant after it', async () => {
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

    test('a skipped hour: an elapsed schedule does not fire in it', async () => {
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

    test('returns ten by default, one to a hundred, strictly after the given instant, in any offset', async () => {
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

    test('a member may call it; without a key it is refused', async () => {
      const member = (await newKey(at(), 'member')).value;
      await ok(at().as(member, '/app/api').post('/schedules/preview', { cron_expression: '* * * * *' }));
      expectError(await at().as(undefined, '/app/api').post('/schedules/preview', {}), 401);
    });
  }));
