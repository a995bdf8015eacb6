import { describe, expect, it } from 'vitest';
import { zoneNames, zoneRulesVersion } from './time-zones.ts';
import { openZone, ZoneError } from './zones.ts';

const refused = (name: string): string => {
  try {
    openZone(name);
  } catch (error) {
    if (error instanceof ZoneError) return error.message;
    throw error;
  }
  throw new Error(`${JSON.stringify(name)} was accepted`);
};

describe('a zone name', () => {
  it.each([
    'UTC',
    'Etc/UTC',
    'GMT',
    'Etc/GMT+5',
    'EST5EDT',
    'Europe/Berlin',
    'Asia/Kolkata',
    'Asia/Calcutta',
    'US/Pacific',
    'America/Argentina/Buenos_Aires',
    'America/Port-au-Prince',
  ])('%s, a zone or link of the database, is accepted as spelled', (name) => {
    expect(openZone(name).name).toBe(name);
  });

  it.each([
    '',
    ' ',
    '+01:00',
    '-0500',
    '01',
    'Z',
    'UTC+1',
    'GMT+1',
    'PST',
    'IST',
    'CEST',
    'europe/berlin',
    'utc',
    'Europe/Berlin ',
    ' UTC',
    'Europe/Nowhere',
    'Factory',
    'localtime',
    'Etc/Unknown',
    'UTC\0',
    'UTC[u-ca=iso8601]',
    '2026-01-01[UTC]',
    '../etc/passwd',
    'ΕUROPE',
    '\ud800',
    'A'.repeat(100_000),
    '__proto__',
    'constructor',
  ])('%j is refused', (name) => {
    expect(refused(name)).toMatch(/^The time zone .+[.]$/);
    expect(refused(name).length).toBeLessThan(300);
  });

  it('in another case is refused, with the right spelling', () => {
    expect(refused('europe/berlin')).toBe('The time zone `europe/berlin` is written `Europe/Berlin`.');
  });

  it('is loaded once', () => {
    expect(openZone('Europe/Paris')).toBe(openZone('Europe/Paris'));
  });
});

describe('the names of zones', () => {
  it('are all of `Intl` and their links, once each', () => {
    expect(zoneNames.length).toBeGreaterThan(590);
    expect(zoneNames).toEqual(expect.arrayContaining(Intl.supportedValuesOf('timeZone')));
    const links = ['UTC', 'Asia/Kolkata', 'Asia/Calcutta', 'US/Pacific', 'EST5EDT'];
    expect(zoneNames).toEqual(expect.arrayContaining(links));
    expect(new Set(zoneNames).size).toBe(zoneNames.length);
    for (const name of zoneNames) openZone(name);
  });
});

describe('the offsets of a zone', () => {
  it('are those of Intl, in every zone', () => {
    for (const name of Intl.supportedValuesOf('timeZone')) {
      const zone = openZone(name);
      const format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
      for (const { start, offset } of zone.segments.slice(-12)) {
        if (start < 0) continue;
        const shown = format.formatToParts(start).find((part) => part.type === 'timeZoneName')!.value;
        const found = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(shown)!;
        const minutes = found[1]
          ? (Number(found[2]) * 60 + Number(found[3])) * (found[1] === '-' ? -1 : 1)
          : 0;
        expect([name, start, offset / 60_000]).toEqual([name, start, minutes]);
      }
    }
  });

  it('cover the whole span without a gap', () => {
    for (const name of ['Europe/Berlin', 'Pacific/Apia', 'UTC', 'Africa/Monrovia']) {
      const { segments } = openZone(name);
      segments.slice(1).forEach((segment, k) => {
        expect(segment.start).toBe(segments[k]!.end);
      });
      expect(segments[0]!.start).toBe(Date.UTC(1968, 0, 1));
      expect(segments.at(-1)!.end).toBe(Date.UTC(2101, 0, 1));
    }
  });
});

describe('versions of the zone rules', () => {
  it('that of the release is that of its Node, which computes everything else', () => {
    expect(zoneRulesVersion).toBe(process.versions.tz);
  });

  it('are in the order of text, as the statement that finds older ones compares them', () => {
    const ordered = ['', '2025b', '2026a', '2026c', '2026z', '2026za', '2027a'];
    expect(ordered.toSorted()).toEqual(ordered);
  });
});
