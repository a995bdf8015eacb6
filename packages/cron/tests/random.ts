/** Numbers from 0 up to 1. */
export type Random = () => number;
/** Returns a generator that gives the same numbers for the same seed. */
export const seeded = (seed: number): Random => {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
};
export const int = (random: Random, low: number, high: number) =>
  low + Math.floor(random() * (high - low + 1));
export const pick = <T>(random: Random, of: readonly T[]): T => of[int(random, 0, of.length - 1)]!;
