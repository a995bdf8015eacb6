import { expect, test, vi } from 'vitest';
import type { Session } from './engines/engine.ts';
import { ConnectionFailure, QueryFailure } from './engines/failures.ts';
import { Pool } from './pool.ts';

type Fake = Session & { broken: boolean; closed: boolean };

const pools = (max = 2) => {
  const opened: Fake[] = [];
  const pool = new Pool(
    async () => {
      const session = {
        broken: false,
        closed: false,
        close: () => {
          session.closed = true;
        },
      } as Fake;
      opened.push(session);
      return session;
    },
    () => max,
  );
  return { pool, opened };
};

const hold = () => Promise.withResolvers<void>();

test('sessions are opened on demand, used again, and never more than allowed', async () => {
  const { pool, opened } = pools();
  await pool.use(async () => {});
  await pool.use(async () => {});
  expect(opened).toHaveLength(1);
  const holds = [hold(), hold(), hold()];
  let running = 0;
  let most = 0;
  const uses = holds.map(({ promise }) =>
    pool.use(async () => {
      most = Math.max(most, ++running);
      await promise;
      running--;
    }),
  );
  await vi.waitFor(() => expect(running).toBe(2));
  for (const { resolve } of holds) resolve();
  await Promise.all(uses);
  expect([most, opened.length]).toEqual([2, 2]);
});

test('an idle session is closed after a minute, and one who waits gets 503 after 30 s', async () => {
  vi.useFakeTimers();
  try {
    const { pool, opened } = pools(1);
    const held = hold();
    const first = pool.use(() => held.promise);
    const second = pool.use(async () => {});
    const refused = expect(second).rejects.toMatchObject({ code: 'service_unavailable' });
    await vi.advanceTimersByTimeAsync(30_000);
    await refused;
    held.resolve();
    await first;
    await vi.advanceTimersByTimeAsync(59_000);
    expect(opened[0]!.closed).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(opened[0]!.closed).toBe(true);
    await pool.use(async () => {});
    expect(opened).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test('a session that was lost while it was idle is replaced once; a fresh one that is lost is a failure', async () => {
  const { pool, opened } = pools();
  await pool.use(async () => {});
  const used: Session[] = [];
  await pool.use(async (session) => {
    used.push(session);
    if (session !== opened[0]) return;
    opened[0]!.broken = true;
    throw new ConnectionFailure('unreachable', 'lost');
  });
  expect(used).toEqual(opened);
  const losing = pool.use(async (session) => {
    (session as Fake).broken = true;
    throw new ConnectionFailure('unreachable', 'lost');
  });
  await expect(losing).rejects.toThrow('lost');
  expect(opened.filter(({ closed }) => closed)).toHaveLength(3);
  // The room that they had is free again.
  const holds = [hold(), hold()];
  const uses = holds.map(({ promise }) => pool.use(() => promise));
  for (const { resolve } of holds) resolve();
  await Promise.all(uses);
});

test('a failed query keeps the session, and a failed opening frees its room', async () => {
  const { pool, opened } = pools(1);
  const failing = pool.use(async () => {
    throw new QueryFailure('timeout', 'slow');
  });
  await expect(failing).rejects.toThrow('slow');
  await pool.use(async () => {});
  expect(opened).toHaveLength(1);

  let refuse = true;
  const other = new Pool(
    async () => {
      if (refuse) throw new ConnectionFailure('denied', 'no');
      return opened[0]!;
    },
    () => 1,
  );
  const both = [other.use(async () => 1), other.use(async () => 2)];
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  refuse = false;
  expect(await other.use(async () => 3)).toBe(3);
});

test('a closed pool closes what is idle at once and what is in use when it is released', async () => {
  const { pool, opened } = pools();
  const held = hold();
  const use = pool.use(() => held.promise);
  await pool.use(async () => {});
  pool.close();
  expect(opened.map(({ closed }) => closed)).toEqual([false, true]);
  held.resolve();
  await use;
  expect(opened.map(({ closed }) => closed)).toEqual([true, true]);
});
