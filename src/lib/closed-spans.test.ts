import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ClosedSpans } from './closed-spans.ts';

const step = 1_000;

it('the sum of all spans is what there is, however the looks and the changes come, and little is read again', async () => {
  const look = fc.record({
    advance: fc.integer({ min: -500, max: 20_000 }),
    back: fc.integer({ min: 0, max: 30_000 }),
    added: fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(look, { minLength: 1, maxLength: 20 }), async (looks) => {
      const spans = new ClosedSpans<{ at: number; n: number }>(step);
      const events: number[] = [];
      let now = 1_000_000;
      for (const { advance, back, added } of looks) {
        now += advance;
        // Nothing is added to a span that has been over for the length of one.
        for (const ago of added) events.push(now - ago);
        const from = now - back;
        const first = Math.floor(from / step) * step;
        const counts = await spans.read(from, now, async (begin) => {
          expect(begin % step).toBe(0);
          const sums = new Map<number, number>();
          for (const at of events.filter((one) => one >= begin)) {
            const span = Math.floor(at / step) * step;
            sums.set(span, (sums.get(span) ?? 0) + 1);
          }
          return [...sums].map(([at, n]) => ({ at, n }));
        });
        const expected = events.filter((at) => at >= first).length;
        expect(counts.reduce((sum, { n }) => sum + n, 0)).toBe(expected);
        expect(counts.every(({ at }) => at >= first)).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});

it('what is over is read once', async () => {
  const spans = new ClosedSpans<{ at: number; n: number }>(step);
  const begins: number[] = [];
  const read = (from: number, now: number) =>
    spans.read(from, now, async (begin) => {
      begins.push(begin);
      return [];
    });
  await read(0, 100_500);
  await read(0, 100_900);
  await read(0, 103_000);
  await read(50_000, 103_100);
  // Earlier than what is known, and after a gap.
  await read(-5_000, 103_200);
  await read(200_000, 203_200);
  expect(begins).toEqual([0, 99_000, 99_000, 102_000, -5_000, 200_000]);
});
