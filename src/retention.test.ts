import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withDatabase } from '../tests/harness/database.ts';
import { silentLogger } from './lib/log.ts';
import { retentionLoop } from './retention.ts';

// Its driver has no timers of its own.
withDatabase('embedded', (open) => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => vi.useRealTimers());

  it('comes back after a minute to what filled a batch, and after an hour to the rest', async () => {
    const passes = { much: 0, little: 0 };
    /** What there is to remove at each call, and nothing after that. */
    const found = [2_000, 2_000, 5, 2_000, 0];
    const loop = retentionLoop({ db: open(), log: silentLogger }, [
      async () => {
        passes.much++;
        return found.shift() ?? 0;
      },
      async () => {
        passes.little++;
        return 1_999;
      },
    ]);
    /** Lets this much time pass, and the tick end that it may have begun. */
    const after = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      await vi.waitFor(() => expect(loop.pass().idle_ms ?? 70_000).toBeLessThan(60_000));
      return { ...passes };
    };
    loop.start();
    expect(await after(0)).toEqual({ much: 3, little: 1 });
    expect(await after(50_000)).toEqual({ much: 3, little: 1 });
    expect(await after(15_000)).toEqual({ much: 5, little: 1 });
    expect(await after(61_000)).toEqual({ much: 6, little: 1 });
    await vi.advanceTimersByTimeAsync(3_450_000);
    expect(passes).toEqual({ much: 6, little: 1 });
    expect(await after(200_000)).toEqual({ much: 7, little: 2 });
    await loop.stop();
  });
});
