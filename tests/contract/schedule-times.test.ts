import { beforeAll, describe, expect, test } from 'vitest';
import type { ClientResponse } from '../harness/http.ts';
import { expectError, faults, newAgent, newSchedule, ok, withPlatform } from './fixture.ts';

describe('times of schedules', () =>
  withPlatform('postgres', (at) => {
    let path: string;
    let existing: string;
    beforeAll(async () => {
      const agent = await newAgent(at());
      path = `/agents/${agent.id}/schedules`;
      existing = `${path}/${(await newSchedule(at(), agent.id)).id}`;
    });
    /** Create, replace and preview, all of which refuse the fields. */
    const each = async (fields: object, check: (response: ClientResponse) => void) => {
      check(await at().api.post(path, fields));
      check(await at().api.put(existing, fields));
      check(await at().app.post('/schedules/preview', fields));
    };

    /** Expects a refusal, which may say what to write instead. */
    const expectRefusal = (response: ClientResponse, why: RegExp) => {
      const { suggestion } = response.body.error;
      expectError(response, 400, why, suggestion === undefined ? {} : { suggestion: expect.any(String) });
    };

    test.each([
      ['', /five fields/],
      ['   ', /five fields/],
      ['* * * *', /5|five/],
      ['* * * * * *', /five/],
      ['0 0 9 * * MON-FRI', /0 9 \* \* MON-FRI/],
      ['0 9 * * * 2027', /five/],
      ['@daily', /0 0 \* \* \*/],
      ['@reboot', /@/],
      ['@every 5m', /@/],
      ['TZ=UTC 0 0 * * *', /timezone/],
      ['CRON_TZ=Europe/Berlin 0 0 * * *', /timezone/],
      ['60 * * * *', /59/],
      ['* 24 * * *', /23/],
      ['* * 0 * *', /1 to 31/],
      ['* * 32 * *', /31/],
      ['* * * 13 *', /12/],
      ['* * * 0 *', /1 to 12/],
      ['* * * * 8', /7/],
      ['-1 * * * *', /./],
      ['5-1 * * * *', /./],
      ['* * * * FRI-SUN', /FRI-7/],
      ['* * * * 7-1', /./],
      ['* * * * SUNDAY', /SUN/],
      ['* * * FEB-JAN *', /./],
      ['*/0 * * * *', /0/],
      ['*/61 * * * *', /60/],
      ['* */25 * * *', /24/],
      ['* * */32 * *', /31/],
      ['* * * */13 *', /12/],
      ['* * * * */8', /7/],
      ['5/10 * * * *', /5-59\/10/],
      ['1,,2 * * * *', /1,2/],
      [', * * * *', /./],
      ['* * L * *', /L/],
      ['* * 15W * *', /W/],
      ['* * * * 1#2', /#/],
      ['* * ? * *', /\?/],
      ['H * * * *', /H/],
      ['~ * * * *', /~/],
      ['0 0 * * * %x', /./],
      ['001 * * * *', /1/],
      ['1.5 * * * *', /U\+002E/],
      ['* * * * MOΝ', /U\+039D/],
      ['٣ * * * *', /U\+0663/],
      ['*\u00a0* * * *', /U\+00A0/],
      ['0 0 * * *\n', /U\+000A/],
      ['0\n0 * * *', /U\+000A/],
      ['0 0 * * *\u0000', /U\+0000/],
      ['0 0 * * *\ud800', /U\+D800/],
      ['0 0 30 2 *', /./],
      ['0 0 31 2,4,6,9,11 *', /./],
      ['a b c d e', /./],
      ['* * * * *; drop table schedules', /./],
      [`${'1,'.repeat(600)}1 * * * *`, /1,000/],
      [5, /./],
      [null, /./],
      [true, /./],
      [['* * * * *'], /./],
      [{}, /./],
    ])(
      'the expression %j is 400 and says why, on create, replace and preview',
      async (cron_expression, why) => {
        await each({ cron_expression }, (response) => expectRefusal(response, why));
      },
    );

    test.each([
      '* * * * *',
      '0-59/1 0-23 1-31 1-12 0-7',
      '*/60 */24 */31 */12 */7',
      '05 07 09 01 00',
      '0 0 29 2 *',
      '0 0 * jan-MAR sun,Mon,tue-FRI',
      '0 0 * * SUN-MON',
      '0 0 * * 5-7',
      '*,5 * * * *',
      '\t0 \t0  *  *  * ',
      '0 0 30 2 1',
    ])('the expression %j is accepted and returned as given', async (cron_expression) => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id, { cron_expression });
      expect(made.cron_expression).toBe(cron_expression);
      const { occurrences } = await ok(at().app.post('/schedules/preview', { cron_expression }));
      expect(occurrences[0].at).toBe(made.next_run_at);
    });

    test.each([
      '',
      ' ',
      'PST',
      'EDT',
      'IST',
      '+02:00',
      '+0200',
      'GMT+2',
      'UTC+1',
      'europe/berlin',
      'Europe/berlin',
      'EUROPE/BERLIN',
      'Berlin',
      'Europe/Nowhere',
      ' UTC',
      'UTC ',
      'utc',
      'Z',
      'local',
      '../../etc/passwd',
      'Europe/Berlin\u0000',
      'x'.repeat(10_000),
      5,
      true,
      {},
      ['UTC'],
    ])('the time zone %j is 400', async (timezone) => {
      await each({ cron_expression: '0 0 * * *', timezone }, (response) =>
        expectRefusal(response, /timezone|time zone/i),
      );
    });

    test.each([
      'UTC',
      'Etc/UTC',
      'GMT',
      'Etc/GMT-14',
      'Asia/Kolkata',
      'Asia/Calcutta',
      'America/Argentina/Buenos_Aires',
      'EST',
      'US/Pacific',
      'Europe/Kyiv',
      'Australia/Lord_Howe',
      'Pacific/Apia',
    ])('the time zone %s is accepted and returned as given', async (timezone) => {
      const agent = await newAgent(at());
      expect((await newSchedule(at(), agent.id, { timezone })).timezone).toBe(timezone);
    });

    test('400 wins over 422, and wrong types of other fields are 422', async () => {
      const agent = await newAgent(at());
      const path = `/agents/${agent.id}/schedules`;
      const good = { cron_expression: '0 0 * * *' };
      for (const bad of [
        { catch_up: 'yes' },
        { catch_up: 1 },
        { message: 5 },
        { message: {} },
        { work_item_name: 5 },
        { payload: [] },
        { payload: 'x' },
        { metadata: [] },
        { metadata: 5 },
      ]) {
        const response = await at().api.post(path, { ...good, ...bad });
        expectError(response, 422);
        expect(faults(response)).toEqual(Object.keys(bad));
        expectError(await at().api.post(path, { cron_expression: 'x', ...bad }), 400, /cron_expression/);
        expectError(await at().api.post(path, { ...good, timezone: 'PST', ...bad }), 400, /timezone/);
        expectError(await at().api.post(path, { ...good, timezone: 5, ...bad }), 400, /timezone/);
        expectError(await at().api.post(path, bad), 400, /cron_expression/);
      }
    });
  }));
