import { isZoneName, zoneNames, zoneOffsets } from './time-zones.ts';
import { elapsedTimeline, endOfTime, fixedTimeline, type Segment, type Timeline } from './timeline.ts';

/** A time zone is refused: the message tells the client why, and what to write instead. */
export class ZoneError extends Error {
  override readonly name = 'ZoneError';
}

/** The local times of a zone before the year 2101. */
export class Zone {
  readonly name: string;
  /** In order and without gaps, from a year before the first occurrence. */
  readonly segments: readonly Segment[];
  private timelines: { elapsed?: Timeline; fixed?: Timeline } = {};

  constructor(name: string, segments: readonly Segment[]) {
    this.name = name;
    this.segments = segments;
  }

  /** The timeline of a schedule that follows real time; made when it is first used. */
  get elapsed(): Timeline {
    this.timelines.elapsed ??= elapsedTimeline(this.segments);
    return this.timelines.elapsed;
  }

  /** The timeline of a schedule at fixed local times; made when it is first used. */
  get fixed(): Timeline {
    this.timelines.fixed ??= fixedTimeline(this.segments);
    return this.timelines.fixed;
  }

  /** Local time minus UTC at the instant `at`, in milliseconds. */
  offsetAt(at: number): number {
    const segment = this.segments.findLast((each) => each.start <= at) ?? this.segments[0]!;
    return segment.offset;
  }

  /** The instant `at` as the clock shows it: RFC 3339 with the zone's offset, `2026-10-25T02:30:00+02:00`. */
  shownAt(at: number): string {
    const offset = this.offsetAt(at);
    return new Date(at + offset).toISOString().slice(0, 19) + shownOffset(offset);
  }

  /** The instants at which the clock shows `local`, a local time in milliseconds as if it were UTC. */
  instantsOf(local: number): number[] {
    return this.segments
      .filter((each) => each.start + each.offset <= local && local < each.end + each.offset)
      .map((each) => local - each.offset);
  }

  /** The jump of the clock that skips `local`; null if the clock shows it. */
  jumpOver(local: number): Transition | null {
    return (
      this.transitions(local - dayMs, local + dayMs).find(
        ({ at, before, after }) => at + before <= local && local < at + after,
      ) ?? null
    );
  }

  /** The changes of the offset in [from, to). */
  transitions(from: number, to: number): Transition[] {
    return this.segments.flatMap(({ start, offset }, k) => {
      const before = this.segments[k - 1]?.offset ?? offset;
      return before !== offset && from <= start && start < to ? [{ at: start, before, after: offset }] : [];
    });
  }
}

/** A change of a zone's offset at an instant, in milliseconds. */
export interface Transition {
  at: number;
  before: number;
  after: number;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;
const twoDigits = (n: number): string => String(n).padStart(2, '0');

/** `+02:00` for an offset in milliseconds. RFC 3339 has no seconds in an offset, so they are rounded. */
export const shownOffset = (offset: number): string => {
  const minutes = Math.round(Math.abs(offset) / minuteMs);
  return `${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
};

const readSegments = (name: string): Segment[] => {
  const offsets = zoneOffsets(name) ?? [];
  return offsets.map(({ at, offset }, k) => ({ start: at, end: offsets[k + 1]?.at ?? endOfTime, offset }));
};

/** Zones by name. Only names of the time zone database get in, and there are about 600, so it stays small. */
const opened = new Map<string, Zone>();

/**
 * Returns the zone with that IANA name or link, read when it is first used (0.05 ms).
 *
 * @throws ZoneError for every other name, including offsets, abbreviations and other spellings
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

/** The name of the database that differs from `name` only in case, or null. */
export const ownSpelling = (name: string): string | null => {
  const lower = name.toLowerCase();
  return zoneNames.find((known) => known.toLowerCase() === lower) ?? null;
};
