import { expect, test, vi } from 'vitest';
import { describeWithNats } from '../../../../tests/harness/nats.ts';
import { useStream } from '../../../../tests/harness/stream-fixture.ts';
import { namesIn as names, slice, sum } from '../../../../tests/harness/telemetry-log.ts';
import { until } from '../../../../tests/harness/wait.ts';
import type { Database } from '../../../database/index.ts';
import { type Batch, TelemetryLogRefusal } from '../log.ts';
import { DeadLetterTable } from './dead-letters.ts';

describeWithNats('replicas on one stream', () => {
  const rig = useStream();
  const { replica, close, drain, messages, takeOver } = rig;

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
      expect(log.totals(number)).toMatchObject({ delivered: number === 1 ? 4 : 3, queued: 0 });
    }
  });

  test('where a cursor cannot be made the append fails, and says nothing of the database', async () => {
    let fails = false;
    const read: Database['run'] = (fn) =>
      fails ? Promise.reject(new Error('relation "telemetry_cursors" at 10.0.0.5')) : rig.db.run(fn);
    const log = await replica({ db: { ...rig.db, run: read } });
    fails = true;
    const failure = await log.append([slice('a', 1, [1])]).catch((error) => error);
    fails = false;
    expect(failure).toMatchObject({ name: 'TelemetryLogError', kind: 'failed' });
    expect(failure.message).not.toMatch(/relation|10\.0/);
    expect(await messages()).toBe(0);
  });

  test('one replica delivers an integration; what another one commits after its lease ran out changes nothing', async () => {
    const first = await replica();
    await first.append([slice('a', 4, [1])]);
    const second = await replica();
    await first.caughtUp();
    expect([first.owns(1), second.owns(1)]).toEqual([true, false]);
    expect(await second.read(1, 10_000)).toBeNull();
    const batch = (await first.read(1, 10_000))!;
    await takeOver(second);
    expect(second.owns(1)).toBe(true);
    expect(await first.commit(batch, 4, { delivered: 4 })).toBe(false);
    expect(first.owns(1)).toBe(false);
    expect(await drain(second, 1)).toEqual(['a-0', 'a-1', 'a-2', 'a-3']);
    await first.refresh();
    expect(first.totals(1)).toMatchObject({ delivered: 4, queued: 0 });
  });

  test('a replica that begins to deliver owns at once all that nobody delivers', async () => {
    let log = await replica();
    await log.append([slice('a', 1, [1, 2])]);
    for (let i = 0; i < 20; i++) {
      await close(log);
      log = await replica();
      expect([log.owns(1), log.owns(2)]).toEqual([true, true]);
    }
  });

  test('a replica that could not renew its lease in time does nothing, and goes on where nobody took over', async () => {
    const log = await replica();
    await log.append([slice('a', 1, [1])]);
    await log.caughtUp();
    const told: number[] = [];
    log.onAppend((routes) => told.push(...routes));
    const now = performance.now.bind(performance);
    const late = vi.spyOn(performance, 'now').mockImplementation(() => now() + 20_000);
    try {
      expect(log.owns(1)).toBe(false);
      expect(await log.read(1, 10_000)).toBeNull();
      await until(() => told.includes(1), 5_000);
      expect(names(await log.read(1, 10_000))).toEqual(['a-0']);
    } finally {
      late.mockRestore();
    }
  });

  test('a replica that stops hands over at once, also in the middle of a record', async () => {
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

  test('an integration that this replica has not heard of is not taken for deleted', async () => {
    const log = await replica({ exists: async (number) => number === 1 });
    await log.append([slice('a', 2, [1, 2])]);
    await log.remove(1);
    await log.remove(2);
    await log.caughtUp();
    expect(log.totals(1)).toMatchObject({ discarded: 0, queued: 2 });
    expect(log.totals(2)).toMatchObject({ discarded: 2, queued: 0 });
  });

  test('a stream that could drop what was acknowledged is refused', async () => {
    await rig.manager.streams.add({
      name: rig.stream,
      subjects: [`${rig.stream}.head`, `${rig.stream}.chunk`],
      max_age: 1e15,
    });
    const refusal = await replica().catch((error) => error);
    expect(refusal).toBeInstanceOf(TelemetryLogRefusal);
    expect(refusal.message).toContain('discard');
  });

  test('a dead letter is counted and stored at once, listed by every replica, and counted out at once', async () => {
    const log = await replica();
    const letters = new DeadLetterTable(rig.db, log);
    const other = await replica();
    const elsewhere = new DeadLetterTable(rig.db, other);
    await log.append([slice('a', 5, [1])]);
    await log.caughtUp();
    const head = { at: '2026-01-02T03:04:05.678Z', status: 400, reason: 'no', bytes: 3 };
    const batch = (await log.read(1, 10_000))!;
    // A commit that comes to nothing leaves no letter.
    await letters.put(1, 0, head, Buffer.from('bad'));
    expect(await log.commit(batch, 2, { dead_lettered: 1 })).toBe(false);
    await letters.put(1, 1, head, Buffer.from('bad'));
    await letters.put(1, 2, head, Buffer.from('bad'));
    expect(await log.commit(batch, 3, { delivered: 1, dead_lettered: 2 })).toBe(true);
    const [one] = await elsewhere.list(1, 10);
    expect(await elsewhere.list(1, 10)).toHaveLength(2);
    expect(one).toEqual({ id: '0000000000000001', ...head });
    expect((await elsewhere.get(1, one!.id))!.span.toString()).toBe('bad');
    expect(await elsewhere.list(1, 10, one!.id)).toHaveLength(1);
    expect(await elsewhere.end(1, [one!.id], 'delivered')).toBe(1);
    expect(await letters.end(1, [one!.id], 'delivered')).toBe(0);
    await letters.expire(Date.parse(head.at) + 1);
    await log.refresh();
    expect(log.totals(1)).toMatchObject({ delivered: 2, dead_lettered: 0, expired: 1, queued: 2 });
    expect(await log.commit(batch, 5, { delivered: 2 })).toBe(true);
    expect(sum(log.totals(1))).toBe(5);
  });
});
