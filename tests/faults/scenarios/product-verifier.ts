import type { Client } from '../../harness/http.ts';
import { lastMinute, pages } from './due.ts';
import type { Fixture } from './fixture.ts';
import type { TestSchedule } from './test-schedules.ts';
import { type Account, accountOf, type Counts } from './verifier.ts';

const minute = 60_000;
const iso = (ms: number): string => new Date(ms).toISOString();

/** What the product answers of one schedule: by its audit, and by its list of occurrences. */
interface Said {
  audited: Counts & { missing: number; due: number };
  listed: Counts;
}

interface Row {
  status: string;
  outcome: string;
  count: number;
}

const ask = async (app: Client, schedule: TestSchedule, until: number): Promise<Said> => {
  const path = `/agents/${schedule.agentId}/schedules/${schedule.id}`;
  // The first occurrence of some lies beyond the end.
  const from = iso(Math.min(schedule.definitions[0]!.after, until));
  const audit = await pages<Row>(app, `${path}/audit?from=${from}&to=${iso(until)}`);
  const list = await pages<Row>(app, `${path}/occurrences?limit=200`);
  const audited = (...statuses: string[]) => audit.filter(({ status }) => statuses.includes(status)).length;
  const listed = (outcome: string) =>
    list.reduce((sum, row) => sum + (row.outcome === outcome ? row.count : 0), 0);
  return {
    audited: {
      fired: audited('on_time', 'late'),
      caughtUp: audited('caught_up'),
      skipped: audited('skipped'),
      missing: audited('missing'),
      due: audited('due'),
    },
    listed: { fired: listed('fired'), caughtUp: listed('caught_up'), skipped: listed('skipped') },
  };
};

/** Where the product's own account of a schedule is not the tests'. */
const disagreements = ({ bySchedule }: Account, said: Map<string, Said>): string[] =>
  [...said].flatMap(([id, { audited, listed }]) => {
    const counts = bySchedule.get(id)!;
    const wanted = { ...counts, missing: 0, due: 0 };
    return Object.entries({ audit: [audited, wanted], occurrences: [listed, counts] }).flatMap(
      ([name, [is, should]]) => {
        const [a, b] = [JSON.stringify(is), JSON.stringify(should)];
        return a === b ? [] : [`schedule ${id}: its ${name} say ${a}, the account of the tests says ${b}`];
      },
    );
  });

/**
 * The end of a run: the next minute that the clock has not shown yet is fired, the product is asked for its own
 * account by replica 0, all replicas are killed, and the database is compared with the definition (`accountOf`).
 * Both must find every occurrence dealt with once, and agree in their counts.
 */
export const closeAccount = async (fixture: Fixture, schedules: TestSchedule[]): Promise<Account> => {
  const until = await lastMinute(fixture);
  const app = fixture.api(0, '/app/api');
  const said = new Map<string, Said>();
  const waiting = [...schedules];
  const asking = Array.from({ length: 6 }, async () => {
    for (let schedule = waiting.pop(); schedule; schedule = waiting.pop()) {
      said.set(schedule.id, await ask(app, schedule, until));
      // No other minute may begin while many are asked for.
      if (fixture.kind === 'postgres' && fixture.now() - until > 0.75 * minute)
        await fixture.moveClock(until - fixture.now());
    }
  });
  await Promise.all(asking);
  await Promise.all(fixture.replicas.map((_, i) => fixture.kill(i)));
  return fixture.inspect(async (rows) => {
    const account = await accountOf(rows, schedules, until);
    account.problems.push(...disagreements(account, said));
    return account;
  });
};
