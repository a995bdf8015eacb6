import { cp, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openMigrated } from '../../../tests/harness/database.ts';
import { describeWithNats, type Nats, startNats } from '../../../tests/harness/nats.ts';
import { namesIn as names, slice, sum } from '../../../tests/harness/telemetry-log.ts';
import { until } from '../../../tests/harness/wait.ts';
import { type Database, sql } from '../../database/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { DeadLetterTable } from '../dead-letter-table.ts';
import { openSharedLog, type SharedLog, type SharedLogOptions } from './jetstream.ts';
import { encodeRecord } from './jetstream-message.ts';
import { type Batch, TelemetryLogRefusal } from './log.ts';

const exists = async () => false;

describeWithNats('replicas on one stream', () => {
  let nats: Nats;
  let db: Database & AsyncDisposable;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  let stream = '';
  const open: SharedLog[] = [];
  beforeAll(async () => {
    nats = await startNats({ jetstream: 'max_file_store: 14MB' });
    db = await openMigrated('postgres');
    connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
    manager = await jetstreamManager(connection);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((log) => log.close()));
    await manager.streams.delete(stream).catch(() => {});
  });
  afterAll(async () => {
    await connection?.close();
    await db?.[Symbol.asyncDispose]();
    await nats?.stop();
  });

  let streams = 0;
  const newStream = (): void => {
    stream = `log_${++streams}`;
  };
  /** Another replica on the stream of this test. */
  const replica = async (options: Partial<SharedLogOptions> = {}): Promise<SharedLog> => {
    const log = await openSharedLog({
      url: `${nats.url}/${stream}`,
      db,
      log: silentLogger,
      exists,
      ...options,
    });
    open.push(log);
    await log.deliver();
    return log;
  };
  const close = async (log: SharedLog): Promise<void> => {
    open.splice(open.indexOf(log), 1);
    await log.close();
  };
  const drain = async (log: SharedLog, number: number, maxBytes = 100_000): Promise<string[]> => {
    await log.caughtUp();
    const all: string[] = [];
    for (;;) {
      const batch = await log.read(number, maxBytes);
      if (batch === null) return all;
      all.push(...names(batch));
      expect(await log.commit(batch, batch.spans, { delivered: batch.spans })).toBe(true);
    }
  };
  const messages = async (): Promise<number> => (await manager.streams.info(stream)).state.messages;
  /** `log` takes over everything, as when the owner froze for longer than its lease. */
  const takeOver = async (log: SharedLog): Promise<void> => {
    await db.read((reader) =>
      sql`update telemetry_cursors set owned_until = platform_now() - interval '1 second'`.execute(reader),
    );
    await log.refresh();
    await log.deliver();
  };

  test('a record that is larger than a message is one record, byte for byte', async () => {
    newStream();
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
    newStream();
    let fails = false;
    const read: Database['read'] = (fn) =>
      fails ? Promise.reject(new Error('relation "telemetry_cursors" at 10.0.0.5')) : db.read(fn);
    const log = await replica({ db: { ...db, read } });
    fails = true;
    const failure = await log.append([slice('a', 1, [1])]).catch((error) => error);
    fails = false;
    expect(failure).toMatchObject({ name: 'TelemetryLogError', kind: 'failed' });
    expect(failure.message).not.toMatch(/relation|10\.0/);
    expect(await messages()).toBe(0);
  });

  test('one replica delivers an integration; what another one commits after its lease ran out changes nothing', async () => {
    newStream();
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
    newStream();
    let log = await replica();
    await log.append([slice('a', 1, [1, 2])]);
    for (let i = 0; i < 20; i++) {
      await close(log);
      log = await replica();
      expect([log.owns(1), log.owns(2)]).toEqual([true, true]);
    }
  });

  test('a replica that could not renew its lease in time does nothing, and goes on where nobody took over', async () => {
    newStream();
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

  test('what is older than the retention expires, counted, and what is younger stays', async () => {
    newStream();
    const log = await replica({ markBytes: 1 });
    await log.append([slice('old', 3, [1])]);
    await sleep(20);
    const between = Date.now();
    await sleep(20);
    await log.append([slice('young', 2, [1])]);
    await log.caughtUp();
    const batch = (await log.read(1, 1))!;
    await log.expire(between, 1e12);
    expect(log.totals(1)).toMatchObject({ expired: 3, queued: 2 });
    expect(await messages()).toBe(1);
    // What was read before is expired now, so it is not delivered as well.
    expect(await log.commit(batch, 3, { delivered: 3 })).toBe(false);
    expect(names(await log.read(1, 10_000))).toEqual(['young-0', 'young-1']);
    expect(await log.oldest(1)).toBeGreaterThan(between);
    await log.expire(Date.now() + 1_000, 1e12);
    expect(log.totals(1)).toMatchObject({ expired: 5, queued: 0 });
    expect(await log.oldest(1)).toBeNull();
  });

  test('a replica that stops hands over at once, also in the middle of a record', async () => {
    newStream();
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

  test('what everybody has passed is removed from the stream, and the account outlives it', async () => {
    newStream();
    const log = await replica({ markBytes: 2_000 });
    const behind = await replica();
    for (let i = 0; i < 8; i++) await log.append([slice(`s${i}`, 1, [1, 2], 1_000)]);
    await drain(log, 1);
    await log.expire(0, 1e9);
    expect(await messages()).toBe(8);
    await drain(log, 2);
    await log.expire(0, 1e9);
    expect(await messages()).toBe(0);
    await behind.caughtUp();
    const next = await replica();
    for (const one of [log, behind, next]) {
      await one.refresh();
      expect(one.totals(1)).toMatchObject({ delivered: 8, queued: 0 });
    }
    await next.append([slice('late', 1, [1])]);
    expect(await drain(log, 1)).toEqual(['late-0']);
  });

  test('a body whose head has not come yet stays, whatever is removed around it', async () => {
    newStream();
    const log = await replica({ markBytes: 1 });
    const js = jetstream(connection);
    const upload = headers();
    upload.set('Ap-Upload', 'slow');
    const { seq } = await js.publish(`${stream}.chunk`, Buffer.alloc(10), { headers: upload });
    await log.append([slice('a', 1, [1])]);
    await drain(log, 1);
    await log.expire(0, 1e9);
    expect((await manager.streams.info(stream)).state.first_seq).toBe(seq);
    // The same for one that starts anew and has not seen it come.
    await close(log);
    const next = await replica();
    await next.append([slice('b', 1, [1])]);
    await drain(next, 1);
    await next.expire(0, 1e9);
    expect((await manager.streams.info(stream)).state.first_seq).toBe(seq);
  });

  test('a body whose head came late stays until the last integration has passed its head', async () => {
    newStream();
    const log = await replica({ markBytes: 1 });
    const { body, headers: told } = encodeRecord([slice('late', 2, [1])])!;
    const js = jetstream(connection);
    const publish = (kind: string, payload: Buffer, values: Record<string, string>) => {
      const all = headers();
      for (const [name, value] of Object.entries(values)) all.set(name, value);
      return js.publish(`${stream}.${kind}`, payload, { headers: all });
    };
    await log.register(1);
    const { seq } = await publish('chunk', body, { 'Ap-Upload': 'x' });
    await log.append([slice('early', 2, [1])]);
    await publish('head', Buffer.alloc(0), { ...told, 'Ap-Upload': 'x', 'Ap-Chunks': String(seq) });
    await log.append([slice('end', 1, [1])]);
    await log.caughtUp();
    const early = (await log.read(1, 1))!;
    expect(names(early)).toEqual(['early-0', 'early-1']);
    await log.commit(early, 2, { delivered: 2 });
    await log.expire(0, 1e9);
    // The same for one that starts anew: the marks tell it.
    await close(log);
    const next = await replica();
    await next.expire(0, 1e9);
    expect(await drain(next, 1)).toEqual(['late-0', 'late-1', 'end-0']);
    await next.expire(0, 1e9);
    expect(await messages()).toBe(0);
  });

  test('an integration that this replica has not heard of is not taken for deleted', async () => {
    newStream();
    const log = await replica({ exists: async (number) => number === 1 });
    await log.append([slice('a', 2, [1, 2])]);
    await log.remove(1);
    await log.remove(2);
    await log.caughtUp();
    expect(log.totals(1)).toMatchObject({ discarded: 0, queued: 2 });
    expect(log.totals(2)).toMatchObject({ discarded: 2, queued: 0 });
  });

  test('what the stream has lost is counted as discarded, and the rest is delivered', async () => {
    newStream();
    const log = await replica();
    for (const prefix of ['a', 'b', 'c']) await log.append([slice(prefix, 2, [1, 2])]);
    await log.append([slice('large', 2, [1], 1_200_000)]);
    await log.append([slice('d', 2, [1])]);
    await log.caughtUp();
    await manager.streams.deleteMessage(stream, 2);
    const chunk = (await manager.streams.getMessage(stream, { last_by_subj: `${stream}.chunk` }))!;
    await manager.streams.deleteMessage(stream, chunk.seq);
    expect(await drain(log, 1)).toEqual(['a-0', 'a-1', 'c-0', 'c-1', 'd-0', 'd-1']);
    expect(log.totals(1)).toMatchObject({ delivered: 6, discarded: 4, queued: 0 });
    expect(await drain(log, 2)).toEqual(['a-0', 'a-1', 'c-0', 'c-1']);
    expect(log.totals(2)).toMatchObject({ delivered: 4, discarded: 2, queued: 0 });
  });

  test('a replica that comes after messages were lost counts them by the last mark', async () => {
    newStream();
    const log = await replica({ markBytes: 1 });
    for (const prefix of ['a', 'b', 'c']) await log.append([slice(prefix, 2, [1])]);
    await log.caughtUp();
    await log.expire(0, 1e9);
    await close(log);
    await manager.streams.deleteMessage(stream, 1);
    const next = await replica();
    const first = (await next.read(1, 1))!;
    expect(names(first)).toEqual(['b-0', 'b-1']);
    await next.commit(first, 2, { delivered: 2 });
    expect(names(await next.read(1, 1))).toEqual(['c-0', 'c-1']);
    expect(next.totals(1)).toMatchObject({ delivered: 2, discarded: 2, queued: 2 });
  });

  test('a replica that was behind when messages were removed goes on from the mark that was saved before', async () => {
    newStream();
    const log = await replica();
    await manager.streams.purge(stream, { seq: 11 });
    const state = { time: 1, bytes: 1_000, needs: null, uploads: [], totals: [[1, 5, 500]] };
    await db.read((reader) =>
      sql`insert into telemetry_marks (stream_id, seq, state) values (${log.id}, 10, ${JSON.stringify(state)}::jsonb)`.execute(
        reader,
      ),
    );
    await log.append([slice('a', 2, [1])]);
    await log.caughtUp();
    // Nobody passed the five, and they are not there.
    expect(await drain(log, 1)).toEqual(['a-0', 'a-1']);
    expect(log.totals(1)).toMatchObject({ delivered: 2, discarded: 5, queued: 0 });
  });

  test('what goes to an integration whose cursor is new is not removed by a replica that has not seen it', async () => {
    newStream();
    const log = await replica();
    const other = await replica();
    await log.append([slice('a', 1, [1])]);
    await drain(log, 1);
    await other.append([slice('b', 1, [2])]);
    await log.caughtUp();
    await log.expire(0, 1e9);
    expect(await drain(other, 2)).toEqual(['b-0']);
  });

  test('a full stream refuses, and takes more when what it held was delivered', async () => {
    newStream();
    const log = await replica();
    let refused: unknown = null;
    for (let i = 0; refused === null && i < 60; i++) {
      await log.append([slice(`s${i}`, 1, [1], 900_000)]).catch((error) => {
        refused = error;
      });
    }
    expect(refused).toMatchObject({ name: 'TelemetryLogError', kind: 'full' });
    const before = sum(log.totals(1));
    expect(before).toBeGreaterThan(8);
    await drain(log, 1, 1e7);
    await log.expire(0, 1e12);
    await log.append([slice('again', 1, [1])]);
    expect(await drain(log, 1)).toEqual(['again-0']);
    expect(log.totals(1).delivered).toBe(before + 1);
  });

  test('a stream that could drop what was acknowledged is refused', async () => {
    newStream();
    await manager.streams.add({
      name: stream,
      subjects: [`${stream}.head`, `${stream}.chunk`],
      max_age: 1e15,
    });
    const refusal = await replica().catch((error) => error);
    expect(refusal).toBeInstanceOf(TelemetryLogRefusal);
    expect(refusal.message).toContain('discard');
  });

  test('a dead letter is counted and stored at once, listed by every replica, and counted out at once', async () => {
    newStream();
    const log = await replica();
    const letters = new DeadLetterTable(db, log);
    const other = await replica();
    const elsewhere = new DeadLetterTable(db, other);
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

  test('a server that lost the end of its stream with its power costs what it lost, and nothing that comes after', async () => {
    newStream();
    await using own = await startNats();
    const at = async (): Promise<SharedLog> => {
      const log = await openSharedLog({ url: `${own.url}/${stream}`, db, log: silentLogger, exists });
      await log.deliver();
      return log;
    };
    const log = await at();
    try {
      await log.append([slice('a', 2, [1])]);
      await log.caughtUp();
      // Nothing of what comes next reached the disk.
      await own.kill('SIGTERM');
      await cp(own.storage, `${own.storage}.before`, { recursive: true });
      await own.start();
      await until(() => log.append([slice('lost', 3, [1])]).then(() => true), 15_000);
      for (let i = 0; i < 60; i++) await log.append([slice(`lost ${i}`, 1, [1])]);
      await log.caughtUp();
      await own.kill('SIGKILL');
      await rm(own.storage, { recursive: true });
      await cp(`${own.storage}.before`, own.storage, { recursive: true });
      await own.start();
      let refused = 0;
      for (let stored = false; !stored; await sleep(20)) {
        stored = await log.append([slice('b', 1, [1])]).then(
          () => true,
          (error) => {
            if (error.message.includes('lost')) refused++;
            return false;
          },
        );
      }
      expect(refused).toBeLessThan(40);
      expect(await drain(log, 1)).toEqual(['a-0', 'a-1', 'b-0']);
      expect(log.totals(1)).toMatchObject({ delivered: 3, discarded: 63, queued: 0 });
    } finally {
      await log.close();
    }
  }, 60_000);
});
