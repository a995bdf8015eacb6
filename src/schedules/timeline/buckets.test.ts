import { compileSchedule } from '@agent-platform/cron';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  addSeries,
  type Bucket,
  type Buckets,
  type Grid,
  type HeldDefinition,
  type Series,
} from './buckets.ts';

const minute = 60_000;
const start = Date.UTC(2026, 9, 24, 12);
const expressions = ['*/7 * * * *', '*/30 2 * * *', '15 * * * *', '0 */3 * * 1-6', '* 1-4 * * *'];

/** Outcomes of one occurrence; `group`, `missed`: it is passed over together with those after it. */
const fates = ['on_time', 'late', 'caught_up', 'skipped', 'missing', 'group', 'missed'] as const;

type Mutable = { -readonly [K in keyof Series['together'][number]]: Series['together'][number][K] };

const definition = fc.record({ expression: fc.constantFrom(...expressions), paused: fc.boolean() });

it('each occurrence is in the one bucket of its time, as what became of it, whatever the definitions were', () => {
  fc.assert(
    fc.property(
      fc.array(definition, { minLength: 1, maxLength: 3 }),
      fc.array(fc.constantFrom(...fates), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 0, max: 40 }),
      fc.boolean(),
      (definitions, fate, count, shift, isOverdue) => {
        const span = 36 * 60 * minute;
        const now = start + 30 * 60 * minute;
        const grid: Grid = {
          from: start + shift * 13 * minute,
          to: start + span,
          step: Math.ceil((span - shift * 13 * minute) / count),
          count,
        };
        const each = (30 * 60 * minute) / definitions.length;
        const held: HeldDefinition[] = definitions.map(({ expression, paused }, k) => ({
          from: k === 0 ? start - 1 : start + k * each,
          to: k === definitions.length - 1 ? Number.POSITIVE_INFINITY : start + (k + 1) * each,
          occurrences: paused ? null : compileSchedule(expression, 'Europe/Berlin'),
        }));
        const planned = held.at(-1)!.occurrences;
        const overdueFrom = isOverdue && planned ? now - 100 * minute : now + 1;
        const nextRunAt = planned?.next(overdueFrom - 1) ?? null;
        const expected = new Map<string, number>();
        const note = (at: number, what: keyof Bucket) => {
          if (at < grid.from || at >= grid.to) return;
          const key = `${Math.floor((at - grid.from) / grid.step)} ${what}`;
          expected.set(key, (expected.get(key) ?? 0) + 1);
        };
        const recorded = new Map<string, Series['recorded'][number]>();
        const together: Mutable[] = [];
        let n = 0;
        for (const { occurrences, from, to } of held) {
          let open = null as Mutable | null;
          for (
            let at = occurrences?.next(from) ?? null;
            at !== null && at <= to;
            at = occurrences!.next(at)
          ) {
            if (at >= grid.to) break;
            if (at > now) {
              note(at, 'expected');
              continue;
            }
            if (nextRunAt !== null && at >= nextRunAt) {
              note(at, 'due');
              continue;
            }
            const became = fate[n++ % fate.length]!;
            if (became === 'group' || became === 'missed') {
              const as = became === 'group' ? 'skipped' : 'missing';
              note(at, as);
              if (open?.as === as) open.count++;
              else {
                open = { first: at, count: 1, as };
                together.push(open);
              }
              continue;
            }
            open = null;
            note(at, became);
            if (became === 'missing' || at < grid.from) continue;
            const k = Math.floor((at - grid.from) / grid.step);
            const row = recorded.get(`${k} ${became}`) ?? { k, status: became, n: 0 };
            recorded.set(`${k} ${became}`, { ...row, n: row.n + 1 });
          }
        }
        const series: Series = {
          recorded: [...recorded.values()],
          together: together.filter((group) => group.first < grid.to),
          held,
          nextRunAt,
          planned,
          knownFrom: start - 1,
        };
        const buckets: Buckets = new Map();
        addSeries(buckets, grid, series, now);
        const found = [...buckets].flatMap(([k, bucket]) =>
          Object.entries(bucket).flatMap(([what, m]) => (m === 0 ? [] : [[`${k} ${what}`, m] as const])),
        );
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
      },
    ),
    { numRuns: 300 },
  );
});
