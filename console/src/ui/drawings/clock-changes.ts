import { offsetAt } from './zone-time.ts';

export interface ClockChange {
  at: number;
  /** Step of the clock forward, in milliseconds; less than 0: back. */
  step: number;
  /** The hours that do not exist or are there twice, as milliseconds of the clock: 02:00 and 03:00 of the day. */
  wallFrom: number;
  wallTo: number;
}

/**
 * Returns what happens to the clock of `zone` at the moments at which it changes. Those of which the browser does not
 * know are left out.
 */
export const clockChanges = (moments: readonly number[], zone: string): ClockChange[] =>
  moments
    .map((at) => {
      const [before, after] = [offsetAt(at - 1_000, zone), offsetAt(at, zone)];
      return {
        at,
        step: after - before,
        wallFrom: at + Math.min(before, after),
        wallTo: at + Math.max(before, after),
      };
    })
    .filter(({ step }) => step !== 0);

/** The least width of hours that do not exist, in pixels: hatching needs that much to be seen. */
const leastGap = 12;

/** The place of moments on an axis. */
export interface Axis {
  x: (at: number) => number;
  /** The widths of the hours that do not exist, which end at the place of their moment. */
  gap: (change: ClockChange) => number;
}

/**
 * Returns an axis of `width` pixels from one moment to another, with 8 at either end, so that a mark there is not cut.
 * Hours that do not exist have room on it as if they did: on a clock they are between the hours around them.
 */
export const axisOf = (from: number, to: number, width: number, changes: readonly ClockChange[]): Axis => {
  const forward = changes.filter(({ at, step }) => step > 0 && at > from && at < to);
  const skipped = forward.reduce((sum, { step }) => sum + step, 0);
  const room = width - 16;
  const gap = ({ step }: ClockChange) => Math.max(leastGap, (step / (to - from + skipped)) * room);
  const rest = room - forward.reduce((sum, change) => sum + gap(change), 0);
  const x = (at: number) =>
    forward.reduce(
      (place, change) => place + (change.at <= at ? gap(change) : 0),
      8 + ((at - from) / (to - from)) * rest,
    );
  return { x, gap };
};
