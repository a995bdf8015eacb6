/** Times between two requests of a page, in milliseconds. */
export const polling = {
  /** With jitter at most 7 requests in a minute, the band's one among them. */
  overview: 12_000,
  /** A list in which a visible row is open, or Live is on. */
  active: 3_000,
  calm: 15_000,
  /** For a page whose stream does not work. */
  withoutStream: 2_000,
} as const;

export const listPolling = (active: boolean): number => (active ? polling.active : polling.calm);

/** Up to 20 % less than `milliseconds`, the same for the same `seed`: a rendering must not start the timer again. */
const jitter = (milliseconds: number, seed: number): number => {
  const noise = Math.sin(seed * 12.9898) * 43_758.5453;
  return Math.round(milliseconds * (1 - 0.2 * (noise - Math.floor(noise))));
};

/**
 * Returns when to ask again: after `every` milliseconds less up to 20 %, or 2, 4 … 60 s after failures. Several tabs do
 * not ask at the same moment, because `seed` differs.
 */
export const nextPoll = (every: number, failed: number, seed: number): number =>
  jitter(failed === 0 ? every : Math.min(60_000, 1_000 * 2 ** failed), seed);
