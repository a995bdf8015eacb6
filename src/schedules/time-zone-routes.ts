import { openZone, shownOffset, zoneNames } from '@agent-platform/cron';
import { z } from 'zod';
import { jsonRoute, queryInteger, type Route } from '../http/index.ts';
import { timeZone } from './schemas.ts';

/** A zone with its offset at `now` and the next change of its clocks. */
export const toTimeZone = (name: string, now: number): z.input<typeof timeZone> => {
  const zone = openZone(name);
  const [next] = zone.transitions(now + 1, Number.POSITIVE_INFINITY);
  return {
    name,
    offset: shownOffset(zone.offsetAt(now)),
    next_transition: next ? { at: new Date(next.at), offset: shownOffset(next.after) } : null,
  };
};

/** Names whose city begins with what was typed come first, then those that contain it; `new york` finds `New_York`. */
const search = (q: string, limit: number): string[] => {
  const wanted = q.trim().toLowerCase().replaceAll(' ', '_');
  const rank = (name: string): number => {
    const lower = name.toLowerCase();
    const city = lower.slice(lower.lastIndexOf('/') + 1);
    if (lower === wanted) return 0;
    return city.startsWith(wanted) ? 1 : lower.includes(wanted) ? 2 : 3;
  };
  return zoneNames
    .map((name) => ({ name, rank: rank(name) }))
    .filter(({ rank: of }) => of < 3)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, limit)
    .map(({ name }) => name);
};

export const timeZoneRoutes = (): Route[] => [
  jsonRoute({
    id: 'listTimeZones',
    role: 'member',
    scope: 'schedules:read',
    base: 'app',
    request: 'GET /time-zones',
    summary: 'List time zones',
    description: 'The names that a schedule accepts, zones and links of the IANA time zone database.',
    query: z.object({
      q: z.string().max(100).default('').describe('Part of a name, in any case.'),
      limit: queryInteger(1, 1_000, 50),
    }),
    cache: 'content',
    response: z.object({ data: z.array(timeZone) }).meta({ id: 'TimeZones' }),
    handler: async ({ query: { q, limit } }) => {
      const now = Date.now();
      return { data: search(q, limit).map((name) => toTimeZone(name, now)) };
    },
  }),
];
