import { describe, expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

/** Plays work through a queue, with a clock of its own: each piece takes as long as it says. */
const play = (places: number) => {
  let now = 0;
  const queue = new FairQueue(
    () => places,
    'busy',
    () => now,
  );
  const running: { ends: number; release: () => void; done: (at: number) => void }[] = [];
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    queue,
    /** Resolves to when the piece ended. */
    piece: (root: string, took: number) =>
      new Promise<number>((done) => {
        void queue.take(root, { waitMs: null }).then((release) => {
          running.push({ ends: now + took, release, done });
        });
      }),
    /** Moves the clock from one end to the next until nothing runs. */
    run: async (until = Number.POSITIVE_INFINITY) => {
      for (;;) {
        await settle();
        const next = running.sort((a, b) => a.ends - b.ends)[0];
        if (!next || next.ends > until) break;
        running.shift();
        now = Math.max(now, next.ends);
        next.release();
        next.done(now);
      }
      if (Number.isFinite(until)) now = until;
    },
  };
};

describe('a fair queue', () => {
  test.each([
    ['short pieces', 1, 1, 1],
    ['longer pieces than those of the other', 2, 10, 1],
    ['a few minutes of work', 4, 300, 5],
  ])(
    'lets no one wait more than twice their own work for a storm of %s',
    async (_what, places, storm, own) => {
      const { piece, run } = play(places);
      for (let n = 0; n < 200; n++) void piece('storm', storm);
      await run(50);
      const pieces = Array.from({ length: 6 }, () => piece('other', own));
      const ended = Promise.all(pieces);
      await run();
      // Alone it would have half of the places.
      const alone = (6 * own) / Math.max(1, Math.floor(places / 2));
      expect(Math.max(...(await ended)) - 50).toBeLessThanOrEqual(alone + 2 * alone);
    },
  );

  test('divides the time, not the number of pieces', async () => {
    const { piece, run } = play(1);
    const long: Promise<number>[] = [];
    const short: Promise<number>[] = [];
    for (let n = 0; n < 10; n++) long.push(piece('a', 10));
    for (let n = 0; n < 50; n++) short.push(piece('b', 1));
    const ends = Promise.all(short);
    await run();
    expect(Math.max(...(await ends))).toBeLessThanOrEqual(110);
    await Promise.all(long);
  });

  test('gives one alone half of the places, and one who comes again no credit', async () => {
    const { queue, piece, run } = play(4);
    for (let n = 0; n < 8; n++) void piece('a', 10);
    await run(0);
    expect(queue.taken).toBe(2);
    void piece('b', 10);
    void piece('c', 10);
    await run(0);
    expect(queue.taken).toBe(4);
    await run();
    expect(queue.taken).toBe(0);
  });

  test('ends a wait that takes too long, that is given up, or that the stop ends', async () => {
    const { queue } = play(1);
    const release = await queue.take('a', { waitMs: null });
    const gone = new AbortController();
    const left = queue.take('b', { waitMs: null, signal: gone.signal });
    const late = queue.take('b', { waitMs: 1 });
    const stopped = queue.take('c', { waitMs: null });
    gone.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await expect(late).rejects.toMatchObject({ code: 'service_unavailable', message: 'busy' });
    queue.stop();
    await expect(stopped).rejects.toMatchObject({ code: 'service_unavailable' });
    release();
    release();
    expect(queue.taken).toBe(0);
    await expect(queue.take('a', { waitMs: null })).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
