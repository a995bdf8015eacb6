import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deadLetterId } from '../src/log/dead-letter.ts';
import type { Batch, TelemetryLog } from '../src/log/log.ts';
import { deadLetter, drain as drainOf, namesIn as names, refusedAt, slice, sum } from './log.ts';

/** One log, which can be opened again. */
interface LogFixture {
  open(): Promise<TelemetryLog>;
  /** Resolves when all that was appended is in the counters of this log. */
  settled(): Promise<void>;
  clear(): Promise<void>;
  /** The process dies in the middle of the log's `step`-th durable change from now; nothing works until `revive`. */
  dieAt(step: number): Promise<void>;
  revive(): void;
}

/** Changes of integration 1, of whose ten spans the first four are dead letters and the next two were delivered. */
const deadLetterChanges: Record<string, (log: TelemetryLog, rest: Batch) => Promise<unknown>> = {
  commit: (log, rest) => log.commit(rest, 3, { rejected: 1 }, [deadLetter(7), deadLetter(8)]),
  'retry that is accepted': (log) => log.endDeadLetters(1, [1, 3].map(deadLetterId), 'delivered'),
  purge: (log) => log.endDeadLetters(1, undefined, 'discarded'),
  expiry: (log) => log.expire(refusedAt + 1, 1e9),
  deletion: (log) => log.remove(1),
};

/** Promises of every telemetry log (log.ts), whatever it is kept in. */
export const conformance = (openFixture: () => Promise<LogFixture>, sequences: number): void => {
  let fixture: LogFixture;
  let log: TelemetryLog;
  beforeEach(async () => {
    fixture = await openFixture();
    log = await fixture.open();
  });
  afterEach(async () => {
    await log?.close();
    await fixture.clear();
  });
  const reopen = async (): Promise<void> => {
    await log.close();
    log = await fixture.open();
  };
  const drain = async (number: number, maxBytes = 10_000): Promise<string[]> => {
    await fixture.settled();
    return drainOf(log, number, maxBytes);
  };

  test('each integration reads its own spans, in order, at its own pace, across a restart', async () => {
    await log.append([slice('a', 2, [1, 2]), slice('b', 1, [2])]);
    await log.append([slice('c', 1, [1])]);
    await log.append([slice('nowhere', 5, [])]);
    await fixture.settled();
    expect(log.counters(1)).toMatchObject({ queued: 3 });
    expect(await drain(1)).toEqual(['a-0', 'a-1', 'c-0']);
    await reopen();
    expect(log.counters(1)).toMatchObject({ delivered: 3, queued: 0, backlog_bytes: 0 });
    expect(await drain(2)).toEqual(['a-0', 'a-1', 'b-0']);
    await log.append([slice('d', 1, [1])]);
    expect(await drain(1)).toEqual(['d-0']);
  });

  test('a cursor inside a record survives a restart, to the span', async () => {
    await log.append([slice('a', 5, [1]), slice('b', 5, [1, 2])]);
    await fixture.settled();
    const batch = (await log.read(1, 10_000))!;
    await log.commit(batch, 3, { delivered: 2, rejected: 1 });
    await log.commit(batch, 6, { delivered: 2 }, [deadLetter(5)]);
    await reopen();
    const rest = (await log.read(1, 10_000))!;
    expect(rest.start).toBe(6);
    expect(names(rest)).toEqual(['b-1', 'b-2', 'b-3', 'b-4']);
    expect(log.counters(1)).toMatchObject({ delivered: 4, rejected: 1, dead_lettered: 1, queued: 4 });
    // A commit that does not fit the cursor changes nothing.
    expect(await log.commit(batch, 6, { delivered: 6 })).toBe(false);
    expect(sum(log.counters(1))).toBe(10);
    expect(await log.endDeadLetters(1, undefined, 'discarded')).toBe(1);
    expect(log.counters(1)).toMatchObject({ dead_lettered: 0, discarded: 1, queued: 4 });
  });

  test('what is read ahead lies behind what was read, and one commit passes both', async () => {
    for (const prefix of ['a', 'b', 'c']) await log.append([slice(prefix, 2, [1], 500)]);
    await fixture.settled();
    const first = (await log.read(1, 100))!;
    const second = (await log.read(1, 100, first))!;
    expect([names(first), names(second)]).toEqual([
      ['a-0', 'a-1'],
      ['b-0', 'b-1'],
    ]);
    expect(second.start).toBe(2);
    const third = (await log.read(1, 100, second))!;
    expect(await log.read(1, 100, third)).toBeNull();
    expect(await log.commit(second, 1, { delivered: 2, rejected: 1 })).toBe(true);
    expect(names(await log.read(1, 10_000))).toEqual(['b-1', 'c-0', 'c-1']);
    // Reading behind a batch that the cursor has passed continues at the cursor.
    expect(names(await log.read(1, 100, first))).toEqual(['b-1']);
    expect(log.counters(1)).toMatchObject({ delivered: 2, rejected: 1, queued: 3 });
  });

  test('a new integration gets what is appended from now on', async () => {
    await log.append([slice('a', 4, [1])]);
    await log.register(2);
    await log.append([slice('b', 1, [1, 2])]);
    expect(await drain(2)).toEqual(['b-0']);
    expect(log.counters(2)).toMatchObject({ delivered: 1, queued: 0 });
  });

  test('the counters of a removed integration are final', async () => {
    await log.append([slice('a', 4, [1, 2])]);
    await fixture.settled();
    const batch = (await log.read(1, 10_000))!;
    await log.commit(batch, 2, { delivered: 1 }, [deadLetter(1)]);
    await log.remove(1);
    expect(await log.deadLetterIds(1)).toEqual([]);
    expect(await log.commit(batch, 4, { delivered: 2 })).toBe(false);
    await log.append([slice('late', 1, [1])]);
    await reopen();
    expect(log.counters(1)).toMatchObject({ delivered: 1, dead_lettered: 0, discarded: 4, queued: 0 });
    expect(await log.read(1, 10_000)).toBeNull();
    expect(log.integrations()).toEqual([
      { number: 1, removed: true },
      { number: 2, removed: false },
    ]);
  });

  /** Appends the ten spans that `deadLetterChanges` are about. Resolves to the four that are left. */
  const refuseSome = async (own: LogFixture, one: TelemetryLog): Promise<Batch> => {
    await one.append([slice('s', 10, [1])]);
    await own.settled();
    const batch = (await one.read(1, 1e6))!;
    expect(await one.commit(batch, 6, { delivered: 2 }, [0, 1, 2, 3].map(deadLetter))).toBe(true);
    return (await one.read(1, 1e6))!;
  };

  test('dead letters are listed page by page and end as delivered, discarded or expired', async () => {
    await refuseSome(fixture, log);
    const [first, second] = await log.listDeadLetters(1, 2);
    const { ordinal: _, span, ...head } = deadLetter(0);
    expect(first).toEqual({ id: '0000000000000000', ...head, bytes: span.length });
    expect((await log.listDeadLetters(1, 9, second!.id)).map(({ id }) => Number(id))).toEqual([2, 3]);
    expect((await log.getDeadLetter(1, second!.id))!.span.toString()).toBe('span 1');
    expect(await log.getDeadLetter(1, '../../cursors/1')).toBeNull();
    expect(await log.deadLetterIds(2)).toEqual([]);
    expect(await log.endDeadLetters(1, [first!.id], 'delivered')).toBe(1);
    expect(await log.endDeadLetters(1, [first!.id], 'delivered')).toBe(0);
    expect(await log.endDeadLetters(1, [second!.id, '0000000000000009'], 'discarded')).toBe(1);
    await log.expire(refusedAt, 1e9);
    expect(log.counters(1)).toMatchObject({ delivered: 3, dead_lettered: 2, discarded: 1, expired: 0 });
    await log.expire(refusedAt + 1, 1e9);
    expect(log.counters(1)).toMatchObject({ delivered: 3, dead_lettered: 0, discarded: 1, expired: 2 });
    expect(await log.deadLetterIds(1)).toEqual([]);
  });

  test('a commit that does not fit the cursor adds no dead letter and removes none', async () => {
    const rest = await refuseSome(fixture, log);
    expect(await log.commit(rest, 3, { delivered: 1 }, [deadLetter(7)])).toBe(false);
    expect(await log.commit(rest, 2, { delivered: 1 }, [deadLetter(7)])).toBe(true);
    expect(await log.commit(rest, 2, { delivered: 1 }, [deadLetter(7)])).toBe(false);
    expect((await log.deadLetterIds(1)).map(Number)).toEqual([0, 1, 2, 3, 7]);
    expect(log.counters(1)).toMatchObject({ delivered: 3, dead_lettered: 5, queued: 2 });
  });

  test('a purge next to a commit counts every dead letter once', async () => {
    const rest = await refuseSome(fixture, log);
    const [committed, purged] = await Promise.all([
      log.commit(rest, 1, {}, [deadLetter(6)]),
      log.endDeadLetters(1, undefined, 'discarded'),
    ]);
    expect(committed).toBe(true);
    expect(await log.deadLetterIds(1)).toHaveLength(5 - purged);
    expect(log.counters(1)).toMatchObject({ dead_lettered: 5 - purged, discarded: purged, queued: 3 });
  });

  for (const [name, change] of Object.entries(deadLetterChanges)) {
    test(`after a crash at any point of a ${name} a dead letter exists if and only if it is counted`, async () => {
      let died = true;
      for (let step = 1; died; step++) {
        expect(step).toBeLessThan(50);
        const own = await openFixture();
        let one = await own.open();
        try {
          const rest = await refuseSome(own, one);
          await own.dieAt(step);
          died = await change(one, rest).then(
            () => false,
            () => true,
          );
          own.revive();
          await one.close();
          one = await own.open();
          const ids = await one.deadLetterIds(1);
          const { dead_lettered, ...others } = one.counters(1);
          expect([dead_lettered, sum({ dead_lettered, ...others })]).toEqual([ids.length, 10]);
          for (const id of ids) {
            const span = (await one.getDeadLetter(1, id))!.span.toString();
            expect(span).toBe(`span ${Number(id)}`);
          }
          const afterwards = { commit: [0, 1, 2, 3, 7, 8], 'retry that is accepted': [0, 2] }[name] ?? [];
          if (!died) expect(ids.map(Number)).toEqual(afterwards);
        } finally {
          own.revive();
          await one.close();
          await own.clear();
        }
      }
    });
  }

  test('a jump passes all that is queued, as it is counted, and nothing that comes later', async () => {
    await log.append([slice('a', 3, [1, 2])]);
    await fixture.settled();
    await log.commit((await log.read(1, 10_000))!, 1, { delivered: 1 });
    expect(await log.jump(1, async () => ({ discarded: 1 }))).toBe(false);
    const ordinals: number[] = [];
    const jumped = await log.jump(1, async (through) => {
      ordinals.push(through);
      await log.append([slice('b', 1, [1])]);
      return { delivered: 1, discarded: 1 };
    });
    expect([jumped, ordinals]).toEqual([true, [3]]);
    await fixture.settled();
    expect(log.counters(1)).toMatchObject({ delivered: 2, discarded: 1, queued: 1 });
    await reopen();
    expect(await drain(1)).toEqual(['b-0']);
    expect(await log.jump(1, async () => ({}))).toBe(false);
    expect(log.counters(2)).toMatchObject({ queued: 3 });
  });

  test('a removal can be taken back, and no count is lost', async () => {
    await log.append([slice('a', 3, [1])]);
    await fixture.settled();
    await log.commit((await log.read(1, 10_000))!, 1, { delivered: 1 });
    await log.remove(1);
    await log.append([slice('b', 2, [1])]);
    await log.restore(1);
    await log.append([slice('c', 1, [1])]);
    expect((await drain(1)).at(-1)).toBe('c-0');
    await reopen();
    const { queued, ...ended } = log.counters(1);
    expect([sum({ ...ended, queued }), queued]).toEqual([6, 0]);
    expect(log.integrations()).toEqual([{ number: 1, removed: false }]);
  });

  test('a body that a client compressed is read as it arrived, in a batch of its own', async () => {
    await log.append([slice('a', 1, [1])]);
    await log.append([{ ...slice('b', 1, [1]), gzip: true }]);
    await log.append([slice('c', 1, [1])]);
    await fixture.settled();
    const kinds: (boolean | undefined)[][] = [];
    for (;;) {
      const batch = await log.read(1, 10_000);
      if (batch === null) break;
      kinds.push(batch.parts.map(({ gzip }) => gzip));
      await log.commit(batch, batch.spans, { delivered: batch.spans });
    }
    expect(kinds.map((parts) => parts.map((gzip) => gzip === true))).toEqual([[false], [true], [false]]);
  });

  test('listeners are notified of every durable append', async () => {
    const notified: number[][] = [];
    const unsubscribe = log.onAppend((routes) => notified.push([...routes].sort()));
    await log.append([slice('a', 1, [1, 2])]);
    await fixture.settled();
    expect(notified).toContainEqual([1, 2]);
    unsubscribe();
    const before = notified.length;
    await log.append([slice('b', 1, [1])]);
    await fixture.settled();
    expect(notified).toHaveLength(before);
  });

  test('the counters add up after any sequence of appends, deliveries, expiries and restarts', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('append' as const),
        spans: fc.integer({ min: 1, max: 6 }),
        routes: fc.uniqueArray(fc.integer({ min: 1, max: 3 })),
      }),
      fc.record({
        do: fc.constant('deliver' as const),
        number: fc.integer({ min: 1, max: 3 }),
        part: fc.nat(8),
      }),
      fc.record({ do: fc.constant('expire' as const), bytes: fc.integer({ min: 500, max: 6_000 }) }),
      fc.record({ do: fc.constant('restart' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const own = await openFixture();
        let one = await own.open();
        const queues = new Map<number, string[]>([1, 2, 3].map((n) => [n, []]));
        const accepted = new Map<number, number>([1, 2, 3].map((n) => [n, 0]));
        try {
          for (const [i, action] of steps.entries()) {
            if (action.do === 'append') {
              await one.append([slice(`${i}`, action.spans, action.routes)]);
              for (const n of action.routes) {
                accepted.set(n, accepted.get(n)! + action.spans);
                for (let s = 0; s < action.spans; s++) queues.get(n)!.push(`${i}-${s}`);
              }
            } else if (action.do === 'deliver') {
              const batch = await one.read(action.number, 500);
              const queue = queues.get(action.number)!;
              expect(names(batch)).toEqual(queue.slice(0, batch?.spans ?? 0));
              expect(batch === null).toBe(queue.length === 0);
              const through = Math.min(action.part, batch?.spans ?? 0);
              if (batch && through > 0) await one.commit(batch, through, { delivered: through });
              queue.splice(0, through);
            } else if (action.do === 'expire') {
              await one.expire(0, action.bytes);
              for (const [n, queue] of queues) queue.splice(0, queue.length - one.counters(n).queued);
            } else {
              await one.close();
              one = await own.open();
            }
            await own.settled();
            for (const [n, queue] of queues) {
              expect(one.counters(n).queued).toBe(queue.length);
              expect(sum(one.counters(n))).toBe(accepted.get(n));
            }
          }
        } finally {
          await one.close();
          await own.clear();
        }
      }),
      { numRuns: sequences },
    );
  }, 60_000);
};
