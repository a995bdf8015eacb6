import type { Client } from '../../harness/http.ts';
import { lastMinute, pages } from './due.ts';
import type { Fixture } from './fixture.ts';
import type { TestSchedule } from './test-schedules.ts';
import { type Counts, type Verification, verifyOccurrences } from './verifier.ts';

const minute = 60_000;
const iso = (ms: number): string => new Date(ms).toISOString();

/** What the product reports of one schedule: by its reconciliation, and by its list of occurrences. */
interface ProductCounts {
  audited: Counts & { missing: number; due: number };
  listed: Counts;
}

interface Row {
  status: string;
  outcome: string;
  count: number;
}

const productCounts = async (app: Client, schedule: TestSchedule, until: number): Promise<ProductCounts> => {
  const path = `/agents/${schedule.agentId}/schedules/${schedule.id}`;
  // The first occurrence of some schedules lies after the end.
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

/** The differences between the product's reconciliation of a schedule and that of the tests. */
const disagreements = ({ bySchedule }: Verification, fromProduct: Map<string, ProductCounts>): string[] =>
  [...fromProduct].flatMap(([id, { audited, listed }]) => {
    const counts = bySchedule.get(id)!;
    const wanted = { ...counts, missing: 0, due: 0 };
    return Object.entries({ audit: [audited, wanted], occurrences: [listed, counts] }).flatMap(
      ([name, [is, should]]) => {
        const [a, b] = [JSON.stringify(is), JSON.stringify(should)];
        return a === b ? [] : [`schedule ${id}: its ${name} say ${a}, the verifier of the tests says ${b}`];
      },
    );
  });

/**
 * The end of a run: the next minute that the clock has not shown yet is fired, replica 0 returns the product's own
 * reconciliation, all replicas are killed, and the database is compared with the definition (`verifyOccurrences`). Both
 * must find that every occurrence was handled once, and agree in their counts.
 */
export const verifyWithProduct = async (
  fixture: Fixture,
  schedules: TestSchedule[],
): Promise<Verification> => {
  const until = await lastMinute(fixture);
  const app = fixture.api(0, '/app/api');
  const fromProduct = new Map<string, ProductCounts>();
  const waiting = [...schedules];
  const asking = Array.from({ length: 6 }, async () => {
    for (let schedule = waiting.pop(); schedule; schedule = waiting.pop()) {
      fromProduct.set(schedule.id, await productCounts(app, schedule, until));
      // No other minute may begin during these requests.
      if (fixture.kind === 'postgres' && fixture.now() - until > 0.75 * minute)
        await fixture.moveClock(until - fixture.now());
    }
  });
  await Promise.all(asking);
  await Promise.all(fixture.replicas.map((_, i) => fixture.kill(i)));
  return fixture.inspect(async (rows) => {
    const verification = await verifyOccurrences(rows, schedules, until);
    verification.problems.push(...disagreements(verification, fromProduct));
    return verification;
  });
};
