import { readFileSync, writeFileSync } from 'node:fs';
import { Temporal } from 'temporal-polyfill';

/**
 * `node tools/time-zones.ts` writes time-zones.txt: the rules of all time zones as the Node that runs this knows them, from 1968 to 2100.
 * The first line is their version. Each other line has the names that share rules, then the offset from UTC in hours
 * at the beginning of 1968, and for each change the hours since the change before and the new offset.
 *
 * Names stay; `Intl` adds new ones, and has no list of links. A link that appears in the database is added to the file
 * by hand, on a line of its own, before this runs. It takes 20 s.
 */
const file = new URL('../time-zones.txt', import.meta.url);
const begin = Date.UTC(1968, 0, 1);
const end = Date.UTC(2101, 0, 1);
const hour = 3_600_000;

const rulesOf = (name: string): string => {
  const rules: string[] = [];
  let at = begin;
  let time = Temporal.Instant.fromEpochMilliseconds(begin).toZonedDateTimeISO(name);
  for (;;) {
    const offset = time.offsetNanoseconds / 1_000_000 / hour;
    rules.push(rules.length === 0 ? `${offset}` : `${(time.epochMilliseconds - at) / hour}:${offset}`);
    at = time.epochMilliseconds;
    const next = time.getTimeZoneTransition('next');
    if (!next || next.epochMilliseconds >= end) return rules.join(' ');
    time = next;
  }
};

const [, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
const names = new Set(lines.flatMap((line) => line.split('\t')[0]!.split(' ')));
for (const name of Intl.supportedValuesOf('timeZone')) names.add(name);

const sharing = new Map<string, string[]>();
for (const name of [...names].sort()) {
  const rules = rulesOf(name);
  sharing.set(rules, [...(sharing.get(rules) ?? []), name]);
}
const text = [...sharing].map(([rules, those]) => `${those.join(' ')}\t${rules}`);
writeFileSync(file, `${[process.versions.tz, ...text].join('\n')}\n`);
