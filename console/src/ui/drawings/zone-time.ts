/** To make a format takes 50 times as long as to use it, and a drawing of weeks uses it hundreds of times. */
const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (zone: string): Intl.DateTimeFormat => {
  let format = formats.get(zone);
  if (!format) {
    const options = {
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    } as const;
    try {
      format = new Intl.DateTimeFormat('en', { timeZone: zone, ...options });
    } catch {
      // The browser's zones can be older than the server's: times are shown in UTC then, too.
      format = new Intl.DateTimeFormat('en', { timeZone: 'UTC', ...options });
    }
    formats.set(zone, format);
  }
  return format;
};

/** Returns how far the clock of `zone` is from UTC at a moment, in milliseconds; 0 if the browser does not know it. */
export const offsetAt = (at: number, zone: string): number => {
  const parts = formatOf(zone).formatToParts(at);
  const read = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const wall = Date.UTC(
    read('year'),
    read('month') - 1,
    read('day'),
    read('hour'),
    read('minute'),
    read('second'),
  );
  return wall - Math.floor(at / 1_000) * 1_000;
};

/** A part of a day in a zone: the hours of the night, or the line between two days. */
export interface Night {
  from: number;
  to: number;
}

const hour = 3_600_000;

/** Returns the nights (20:00 to 06:00 on the clock of `zone`) between two moments. */
export const nightsBetween = (from: number, to: number, zone: string): Night[] => {
  const nights: Night[] = [];
  for (let at = Math.floor(from / hour) * hour; at < to; at += hour) {
    const clock = new Date(at + offsetAt(at, zone)).getUTCHours();
    if (clock >= 6 && clock < 20) continue;
    const last = nights.at(-1);
    if (last && last.to === at) last.to = at + hour;
    else nights.push({ from: at, to: at + hour });
  }
  return nights.map((night) => ({ from: Math.max(from, night.from), to: Math.min(to, night.to) }));
};

/**
 * Returns the moments between `from` and `to` at which the clock of `zone` shows a multiple of `step`. One that it shows
 * twice is two moments, one that it leaves out is none.
 */
export const ticksBetween = (
  from: number,
  to: number,
  zone: string,
  step: number,
): { at: number; midnight: boolean }[] => {
  const offsets = [...new Set([from, (from + to) / 2, to].map((at) => offsetAt(at, zone)))];
  const ticks = new Map<number, boolean>();
  for (const offset of offsets) {
    for (let wall = Math.ceil((from + offset) / step) * step; wall - offset <= to; wall += step) {
      const at = wall - offset;
      // The clock can change between `from` and here.
      if (offsets.length === 1 || offsetAt(at, zone) === offset) ticks.set(at, wall % 86_400_000 === 0);
    }
  }
  return [...ticks].sort(([one], [other]) => one - other).map(([at, midnight]) => ({ at, midnight }));
};
