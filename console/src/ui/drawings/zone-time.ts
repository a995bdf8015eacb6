/** Returns how far the clock of `zone` is from UTC at a moment, in milliseconds. */
export const offsetAt = (at: number, zone: string): number => {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
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

/** Returns the moments between `from` and `to` at which the clock of `zone` shows a multiple of `step`. */
export const ticksBetween = (
  from: number,
  to: number,
  zone: string,
  step: number,
): { at: number; midnight: boolean }[] => {
  const ticks: { at: number; midnight: boolean }[] = [];
  const shift = offsetAt(from, zone);
  for (let wall = Math.ceil((from + shift) / step) * step; wall - shift <= to + hour; wall += step) {
    // The clock can change between `from` and here.
    const at = wall - offsetAt(wall - shift, zone);
    if (at >= from && at <= to) ticks.push({ at, midnight: wall % 86_400_000 === 0 });
  }
  return ticks;
};
