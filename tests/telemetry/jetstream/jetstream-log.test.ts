import { type Batch, TelemetryLogRefusal } from '@agent-platform/otlp/log';
import { expect, test, vi } from 'vitest';
import { deadLetter, namesIn as names, refusedAt, slice, sum } from '../../../packages/otlp/tests/log.ts';
import type { Database } from '../../../src/database/index.ts';
import { streamStore } from '../../../src/telemetry/stream-store/store.ts';
import { describeWithNats } from '../../harness/nats.ts';
import { useStream } from '../../harness/stream-fixture.ts';
import { until } from '../../harness/wait.ts';

describeWithNats('replicas on one stream', () => {
  const fixture = useStream();
  const { replica, close, drain, messages, takeOver } = fixture;

  test('a record that is larger than a message is one record, byte for byte', async () => {
    const log = await replica();
    const large = slice('large', 3, [1, 2], 1_200_000);
    await Promise.all([log.append([large]), log.append([slice('small', 1, [1])])]);
    await log.caughtUp();
    expect(await messages()).toBeGreaterThanOrEqual(6);
    for (const number of [1, 2]) {
      const all: Batch['parts'][number][] = [];
      for (let batch = await log.read(number, 1e7); batch !== null; batch = await log.read(number, 1e7)) {
        all.push(...batch.parts);
        await log.commit(batch, batch.spans, { delivered: batch.spans });
      }
      expect(all.some(({ bytes }) => bytes.equals(large.bytes))).toBe(true);
      expect(log.counters(number)).toMatchObject({ delivered: number === 1 ? 4 : 3, queued: 0 });
    }
  });

  test('if a cursor cannot be created the append fails, with an error that says nothing of the database', async () => {
    let fails = false;
    const read: Database['run'] = (fn) =>
      fails ? Promise.reject(new Error('relation "telemetry_cursors" at 10.0.0.5')) : fixture.db.run(fn);
    const log = await replica({ openStore: streamStore({ ...fixture.db, run: read }) });
    fails = true;
    const failure = await log.append([slice('a', 1, [1])]).catch((error) => error);
    fails = false;
    expect(failure).toMatchObject({ name: 'TelemetryLogError', kind: 'failed' });
    expect(failure.message).not.toMatch(/relation|10\.0/);
    expect(await messages()).toBe(0);
  });

  test('one replica delivers an integration; a commit of another after its lease ran out changes nothing', async () => {
    const first = await replica();
    await first.append([slice('a', 4, [1])]);
    const second = await replica();
    await first.caughtUp();
    expect([first.owns(1), second.owns(1)]).toEqual([true, false]);
    expect(await second.read(1, 10_000)).toBeNull();
    const batch = (await first.read(1, 10_000))!;
    await takeOver(second, 1);
    expect(second.owns(1)).toBe(true);
    expect(await first.commit(batch, 4, { delivered: 4 })).toBe(false);
    expect(first.owns(1)).toBe(false);
    expect(await drain(second, 1)).toEqual(['a-0', 'a-1', 'a-2', 'a-3']);
    await first.refresh();
    expect(first.counters(1)).toMatchObject({ delivered: 4, queued: 0 });
  });

  test('a replica that starts delivery owns at once all that no one delivers', async () => {
    let log = await replica();
    await log.append([slice('a', 1, [1, 2])]);
    for (let i = 0; i < 20; i++) {
      await close(log);
      log = await replica();
      expect([log.owns(1), log.owns(2)]).toEqual([true, true]);
    }
  });

  test('a replica that could not renew its lease in time stops, and resumes what no one has taken over', async () => {
    const log = await replica();
    await log.append([slice('a', 1, [1])]);
    await log.caughtUp();
    const notified: number[] = [];
    log.onAppend((routes) => notified.push(...routes));
    const now = performance.now.bind(performance);
    const late = vi.spyOn(performance, 'now').mockImplementation(() => now() + 20_000);
    try {
      expect(log.owns(1)).toBe(false);
      expect(await log.read(1, 10_000)).toBeNull();
      await until(() => notified.includes(1), 5_000);
      expect(names(await log.read(1, 10_000))).toEqual(['a-0']);
    } finally {
      late.mockRestore();
    }
  });

  test('a replica that stops releases its leases at once, even in the middle of a record', async () => {
    const first = await replica();
    await first.append([slice('a', 4, [1])]);
    const second = await replica();
    await first.caughtUp();
    const batch = (await first.read(1, 10_000))!;
    await first.commit(batch, 1, { delivered: 1 });
    await close(first);
    await until(() => second.owns(1), 3_000);
    expect(await drain(second, 1)).toEqual(['a-1', 'a-2', 'a-3']);
  });

  test('an integration that this replica does not know yet is not treated as deleted', async () => {
    const log = await replica({ exists: async (number) => number === 1 });
    await log.append([slice('a', 2, [1, 2])]);
    await log.remove(1);
    await log.remove(2);
    await log.caughtUp();
    expect(log.counters(1)).toMatchObject({ discarded: 0, queued: 2 });
    expect(log.counters(2)).toMatchObject({ discarded: 2, queued: 0 });
  });

  test('a stream that could drop what was acknowledged is refused', async () => {
    await fixture.manager.streams.add({
      name: fixture.stream,
      subjects: [`${fixture.stream}.head`, `${fixture.stream}.chunk`],
      max_age: 1e15,
    });
    const refusal = await replica().catch((error) => error);
    expect(refusal).toBeInstanceOf(TelemetryLogRefusal);
    expect(refusal.message).toContain('discard');
  });

  test('a dead letter is stored with its count, listed by every replica, and removed with its count', async () => {
    const log = await replica();
    const other = await replica();
    await log.append([slice('a', 5, [1])]);
    await log.caughtUp();
    const batch = (await log.read(1, 10_000))!;
    // A commit that changes nothing leaves no dead letter.
    expect(await log.commit(batch, 2, {}, [deadLetter(0)])).toBe(false);
    expect(await log.commit(batch, 3, { delivered: 1 }, [deadLetter(1), deadLetter(2)])).toBe(true);
    const [one] = await other.listDeadLetters(1, 10);
    expect(await other.listDeadLetters(1, 10)).toHaveLength(2);
    const { ordinal: _, span, ...head } = deadLetter(1);
    expect(one).toEqual({ id: '0000000000000001', ...head, bytes: span.length });
    expect((await other.getDeadLetter(1, one!.id))!.span.toString()).toBe('span 1');
    expect(await other.listDeadLetters(1, 10, one!.id)).toHaveLength(1);
    expect(await other.endDeadLetters(1, [one!.id], 'delivered')).toBe(1);
    expect(await log.endDeadLetters(1, [one!.id], 'delivered')).toBe(0);
    await log.expire(refusedAt + 1, 1e12);
    await log.refresh();
    expect(log.counters(1)).toMatchObject({ delivered: 2, dead_lettered: 0, expired: 1, queued: 2 });
    expect(await log.commit(batch, 5, { delivered: 2 })).toBe(true);
    expect(sum(log.counters(1))).toBe(5);
  });
});
