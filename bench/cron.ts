import { compileSchedule, Occurrences, openZone, parseCron, zoneRulesVersion } from '@agent-platform/cron';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';

// The cron engine next to croner and cron-parser: the same expressions, zones and starting instants for all three.
// Each peer is used in its fastest way: objects created beforehand, one call for the next occurrence.

const typical = [
  '* * * * *',
  '*/5 * * * *',
  '0 * * * *',
  '*/15 9-17 * * MON-FRI',
  '0 9 * * MON-FRI',
  '30 2 * * *',
  '0 9,17 * * *',
  '0 0 * * SUN',
  '0 0 1 * *',
  '0 12 1 */3 *',
];
/** The expressions that need the longest search: few days in a century, minutes at the far end of the sets. */
const rare = [
  '0 0 29 2 */7',
  '* * 29 2 */7',
  '59 23 29 2 */7',
  '59 * 29 2 */7',
  '0 0 29 2 *',
  '59 23 31 12 *',
  '59 23 */31 12 */6',
  '30 2 */30 3 SUN',
];
const from = Date.UTC(2026, 0, 1);
const to = Date.UTC(2036, 0, 1);

/**
 * Runs `round`, which returns how many operations it did, for `seconds` after a warm-up. Returns operations per second.
 */
const rate = (seconds: number, round: () => number): number => {
  const measure = (limit: number) => {
    const start = performance.now();
    let operations = 0;
    let elapsed = 0;
    while (elapsed < limit) {
      operations += round();
      elapsed = performance.now() - start;
    }
    return (operations / elapsed) * 1000;
  };
  measure(seconds * 300);
  return measure(seconds * 1000);
};

/** The same pseudo-random instants in every run. */
const instants = (count: number): number[] => {
  let state = 12_345;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return from + Math.floor((state / 0x8000_0000) * (to - from));
  });
};

/** Every zone with every typical expression, `walk` occurrences of each from its own instant: one peer's `round`. */
const walker = <T>(
  zones: string[],
  make: (expression: string, zone: string) => T,
  walk: (made: T, start: number) => number,
) => {
  const pairs = zones.flatMap((zone) => typical.map((expression) => make(expression, zone)));
  const starts = instants(pairs.length);
  let k = 0;
  return (): number => {
    k = (k + 7) % pairs.length;
    return walk(pairs[k]!, starts[k]!);
  };
};

const short = (n: number): string =>
  n >= 1e6 ? `${(n / 1e6).toFixed(1)} M/s` : n >= 1e3 ? `${(n / 1e3).toFixed(1)} k/s` : `${n.toFixed(0)} /s`;

const nextRates = (zones: string[]): [number, number, number] => {
  const ours = rate(
    3,
    walker(
      zones,
      (expression, zone) => new Occurrences(parseCron(expression), openZone(zone)),
      (made, start) => {
        let at = start;
        for (let n = 0; n < 200; n++) at = made.next(at)!;
        return 200;
      },
    ),
  );
  // A tenth of the zones, spread over the list: a peer takes seconds to make an object for each of them.
  const some = zones.filter((_, k) => k % 10 === 0);
  const croner = rate(
    3,
    walker(
      some,
      (expression, timezone) => new Cron(expression, { timezone, paused: true }),
      (made, start) => {
        let at: Date = new Date(start);
        for (let n = 0; n < 20; n++) at = made.nextRun(at)!;
        return 20;
      },
    ),
  );
  const cronParser = rate(
    3,
    walker(
      some,
      (expression, tz) => CronExpressionParser.parse(expression, { tz }),
      (made, start) => {
        made.reset(new Date(start));
        for (let n = 0; n < 20; n++) made.next();
        return 20;
      },
    ),
  );
  return [ours, croner, cronParser];
};

const parseRates = (): [number, number, number] => {
  const all = (parse: (expression: string) => unknown) => () => {
    for (const expression of typical) parse(expression);
    return typical.length;
  };
  return [
    rate(1, all(parseCron)),
    rate(
      1,
      all((expression) => new Cron(expression, { timezone: 'Europe/Berlin', paused: true })),
    ),
    rate(
      1,
      all((expression) => CronExpressionParser.parse(expression, { tz: 'Europe/Berlin' })),
    ),
  ];
};

/** The slowest `next` and `previous` over all zones, in microseconds; each is the best of five tries of 50 calls. */
const worst = (zones: string[]) => {
  let slowest = { microseconds: 0, what: '' };
  const starts = [
    ...instants(6),
    Date.UTC(1969, 0, 1),
    Date.UTC(2072, 2, 1),
    Date.UTC(2088, 2, 1),
    Date.UTC(2100, 11, 30),
  ];
  for (const zone of zones) {
    for (const expression of rare) {
      const made = new Occurrences(parseCron(expression), openZone(zone));
      for (const start of starts) {
        for (const ask of ['next', 'previous'] as const) {
          let best = Number.POSITIVE_INFINITY;
          for (let n = 0; n < 5; n++) {
            const begin = performance.now();
            for (let k = 0; k < 50; k++) made[ask](start);
            best = Math.min(best, (performance.now() - begin) / 50);
          }
          const microseconds = best * 1000;
          if (microseconds > slowest.microseconds)
            slowest = { microseconds, what: `${ask} of ${expression} in ${zone}` };
        }
      }
    }
  }
  return slowest;
};

const countCost = (): number => {
  const made = new Occurrences(parseCron('*/5 9-17 * * MON-FRI'), openZone('Europe/Berlin'));
  const rounds = rate(0.5, () => {
    for (let n = 0; n < 100; n++) made.countBetween(from + n, to);
    return 100;
  });
  return 1e6 / rounds;
};

/**
 * What a firing loop does with many different schedules: find each compiled one and ask it once, each time at a new
 * instant.
 */
const scattered = (zones: string[]): number => {
  const schedules = zones.flatMap((zone) => typical.map((expression) => [expression, zone] as const));
  const starts = instants(10_007);
  let index = 0;
  return rate(2, () => {
    for (const [expression, zone] of schedules) {
      compileSchedule(expression, zone).next(starts[index]!);
      index = (index + 1) % starts.length;
    }
    return schedules.length;
  });
};

/** Compiles schedules that are not cached, in a zone that is loaded. */
const compiling = (): number => {
  let n = 0;
  return rate(1, () => {
    for (let k = 0; k < 1_000; k++) {
      n = (n + 1) % 31_248;
      compileSchedule(
        `${n % 56}-59/3 ${Math.floor(n / 56) % 18} ${Math.floor(n / 1_008) + 1} * *`,
        'Europe/Berlin',
      );
    }
    return 1_000;
  });
};

/**
 * Prints one table: parsing and the next occurrence for the engine, croner and cron-parser, then the engine's slowest
 * cases.
 */
export async function run(): Promise<void> {
  const zones = Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC');
  const loading = performance.now();
  for (const zone of zones) openZone(zone).fixed.length + openZone(zone).elapsed.length;
  const load = (performance.now() - loading) / zones.length;
  const row = (what: string, [ours, croner, cronParser]: [number, number, number]) => ({
    'cron engine': what,
    ours: short(ours),
    croner: short(croner),
    'cron-parser': short(cronParser),
    'ours / best peer': `${(ours / Math.max(croner, cronParser)).toFixed(0)} ×`,
  });
  const own = (what: string, value: string) => ({ 'cron engine': what, ours: value });
  const next = nextRates(zones);
  const slowest = worst(zones);
  console.log(
    `${typical.length} typical expressions, ${zones.length} zones, rules ${zoneRulesVersion}, Node ${process.version}`,
  );
  console.table([
    row('parse', parseRates()),
    row('next, typical expressions over all zones', next),
    own(`slowest: ${slowest.what}`, `${slowest.microseconds.toFixed(2)} µs`),
    own('countBetween over ten years', `${countCost().toFixed(2)} µs`),
    own('find compiled and next, from scattered instants', short(scattered(zones))),
    own('compile', short(compiling())),
    own('load a zone, both timelines', `${load.toFixed(2)} ms`),
  ]);
}

if (import.meta.main) await run();
