import { duration } from '../../text/format.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]
  .map((count) => count * second)
  .concat(
    [1, 2, 5, 10, 15, 30].map((count) => count * minute),
    [1, 2, 3, 6, 12, 24, 48, 120, 240].map((count) => count * hour),
  );

/** Returns the ticks of an axis that begins at 0: at most `most` steps, at round durations. */
export const durationTicks = (total: number, most = 5): { at: number; label: string }[] => {
  const step = steps.find((each) => total / each <= most) ?? total;
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, index) => ({
    at: index * step,
    label: index === 0 ? '0 s' : duration(index * step),
  }));
};

/** Returns the step of a time axis: at most one label in `pixels` pixels. */
export const clockStep = (milliseconds: number, width: number, pixels = 96): number =>
  steps.find((step) => step >= minute && (milliseconds / step) * pixels <= width) ?? 240 * hour;
