import { isZoneName } from '../../lib/zone-name.ts';
import { END_OF_TIME, elapsedTimeline, fixedTimeline, type Segment, type Timeline } from './timeline.ts';

/** Why a time zone is not accepted and what to write instead, in a message meant for the client. */
export class ZoneError extends Error {
  override readonly name = 'ZoneError';
}

/** The version of the time zone rules that this process computes with, such as `2026c`. */
export const zoneRulesVersion: string = process.versions.tz ?? '';

/** The local times of a zone before the year 2101. */
export class Zone {
  readonly name: string;
  /** In order and without a hole, from a year before the first occurrence. */
  readonly segments: readonly Segment[];
  private timelines: { elapsed?: Timeline; fixed?: Timeline } = {};

  constructor(name: string, segments: readonly Segment[]) {
    this.name = name;
    this.segments = segments;
  }

  /** What a schedule that follows real time runs on; made when it is first asked for. */
  get elapsed(): Timeline {
    this.timelines.elapsed ??= elapsedTimeline(this.segments);
    return this.timelines.elapsed;
  }

  /** What a schedule at fixed local times runs on; made when it is first asked for. */
  get fixed(): Timeline {
    this.timelines.fixed ??= fixedTimeline(this.segments);
    return this.timelines.fixed;
  }

  /** Local time minus UTC at the instant `at`, in milliseconds. */
  offsetAt(at: number): number {
    const segment = this.segments.findLast((each) => each.start <= at) ?? this.segments[0]!;
    return segment.offset;
  }

  /** How often the clock shows `local`, a local time in milliseconds as if it were UTC. */
  timesShown(local: number): number {
    const shows = (each: Segment) => each.start + each.offset <= local && local < each.end + each.offset;
    return this.segments.filter(shows).length;
  }
}

const SEGMENTS_FROM = Date.UTC(1968, 0, 1);

const readSegments = (name: string): Segment[] => {
  const segments: Segment[] = [];
  let from = new Temporal.ZonedDateTime(BigInt(SEGMENTS_FROM) * 1_000_000n, name);
  for (;;) {
    const start = from.epochMilliseconds;
    const offset = from.offsetNanoseconds / 1_000_000;
    const next = from.getTimeZoneTransition('next');
    const end = next ? Math.min(next.epochMilliseconds, END_OF_TIME) : END_OF_TIME;
    segments.push({ start, end, offset });
    if (next === null || end === END_OF_TIME) return segments;
    from = next;
  }
};

/** Only names of the database get here, and there are about 600 of them, so it stays small. */
const opened = new Map<string, Zone>();

/**
 * The zone of that IANA name or link, loaded when it is first used (0.2 ms).
 *
 * @throws ZoneError for every other name, among them offsets, abbreviations and other spellings
 */
export const openZone = (name: string): Zone => {
  const known = opened.get(name);
  if (known) return known;
  if (!isZoneName(name)) throw new ZoneError(zoneRefusal(name));
  const zone = new Zone(name, readSegments(name));
  opened.set(name, zone);
  return zone;
};

const zoneRefusal = (name: string): string => {
  const instead = 'write an IANA time zone name in its own spelling, such as `Europe/Berlin` or `UTC`';
  if (name === '') return `The time zone is empty: ${instead}.`;
  if (/^[+-]?[0-9]/.test(name)) return `The time zone is an offset: ${instead}.`;
  if (!/^[!-~]{1,100}$/.test(name)) return `The time zone is not known: ${instead}.`;
  const spelling = ownSpelling(name);
  if (spelling) return `The time zone \`${name}\` is written \`${spelling}\`.`;
  return `The time zone \`${name}\` is not known: ${instead}.`;
};

/** The name that `name` would be in the database's own case, or null. */
const ownSpelling = (name: string): string | null => {
  try {
    const { timeZoneId } = new Temporal.ZonedDateTime(0n, name);
    return isZoneName(timeZoneId) ? timeZoneId : null;
  } catch {
    return null;
  }
};
