import { setTimeout as sleep } from 'node:timers/promises';
import { encodeRecord } from '@agent-platform/otlp/jetstream';
import { jetstream } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { namesIn as names, slice, sum } from '../../../packages/otlp/tests/log.ts';
import { describeWithNats } from '../../harness/nats.ts';
import { useStream } from '../../harness/stream-fixture.ts';

describeWithNats('retention of the stream', () => {
  const fixture = useStream();
  const { replica, close, drain, messages } = fixture;

  test('spans older than the retention expire and are counted, younger ones stay', async () => {
    const log = await replica({ checkpointBytes: 1 });
    await log.append([slice('old', 3, [1])]);
    await sleep(20);
    const between = Date.now();
    await sleep(20);
    await log.append([slice('young', 2, [1])]);
    await log.caughtUp();
    const batch = (await log.read(1, 1))!;
    await log.expire(between, 1e12);
    expect(log.counters(1)).toMatchObject({ expired: 3, queued: 2 });
    expect(await messages()).toBe(1);
    // What was read before is expired now, so it must not be delivered as well.
    expect(await log.commit(batch, 3, { delivered: 3 })).toBe(false);
    expect(names(await log.read(1, 10_000))).toEqual(['young-0', 'young-1']);
    expect(await log.oldest(1)).toBeGreaterThan(between);
    await log.expire(Date.now() + 1_000, 1e12);
    expect(log.counters(1)).toMatchObject({ expired: 5, queued: 0 });
    expect(await log.oldest(1)).toBeNull();
  });

  test('what every integration has passed is removed from the stream, and the counters stay', async () => {
    const log = await replica({ checkpointBytes: 2_000 });
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
      expect(one.counters(1)).toMatchObject({ delivered: 8, queued: 0 });
    }
    await next.append([slice('late', 1, [1])]);
    expect(await drain(log, 1)).toEqual(['late-0']);
  });

  test('a body whose head has not arrived yet stays, whatever is purged around it', async () => {
    const log = await replica({ checkpointBytes: 1 });
    const js = jetstream(fixture.connection);
    const upload = headers();
    upload.set('Ap-Upload', 'slow');
    const { seq } = await js.publish(`${fixture.stream}.chunk`, Buffer.alloc(10), { headers: upload });
    await log.append([slice('a', 1, [1])]);
    await drain(log, 1);
    await log.expire(0, 1e9);
    expect((await fixture.manager.streams.info(fixture.stream)).state.first_seq).toBe(seq);
    // Likewise for a replica that starts later and has not seen the chunk come.
    await close(log);
    const next = await replica();
    await next.append([slice('b', 1, [1])]);
    await drain(next, 1);
    await next.expire(0, 1e9);
    expect((await fixture.manager.streams.info(fixture.stream)).state.first_seq).toBe(seq);
  });

  test('a body whose head came late stays until the last integration has passed its head', async () => {
    const log = await replica({ checkpointBytes: 1 });
    const { body, headers: recordHeaders } = encodeRecord([slice('late', 2, [1])])!;
    const js = jetstream(fixture.connection);
    const publish = (kind: string, payload: Buffer, values: Record<string, string>) => {
      const all = headers();
      for (const [name, value] of Object.entries(values)) all.set(name, value);
      return js.publish(`${fixture.stream}.${kind}`, payload, { headers: all });
    };
    await log.register(1);
    const { seq } = await publish('chunk', body, { 'Ap-Upload': 'x' });
    await log.append([slice('early', 2, [1])]);
    await publish('head', Buffer.alloc(0), { ...recordHeaders, 'Ap-Upload': 'x', 'Ap-Chunks': String(seq) });
    await log.append([slice('end', 1, [1])]);
    await log.caughtUp();
    const early = (await log.read(1, 1))!;
    expect(names(early)).toEqual(['early-0', 'early-1']);
    await log.commit(early, 2, { delivered: 2 });
    await log.expire(0, 1e9);
    // Likewise for a replica that starts later: it knows from the checkpoints.
    await close(log);
    const next = await replica();
    await next.expire(0, 1e9);
    expect(await drain(next, 1)).toEqual(['late-0', 'late-1', 'end-0']);
    await next.expire(0, 1e9);
    expect(await messages()).toBe(0);
  });

  test('a replica that does not know a new cursor yet does not purge what its integration needs', async () => {
    const log = await replica();
    const other = await replica();
    await log.append([slice('a', 1, [1])]);
    await drain(log, 1);
    await other.append([slice('b', 1, [2])]);
    await log.caughtUp();
    await log.expire(0, 1e9);
    expect(await drain(other, 2)).toEqual(['b-0']);
  });

  test('a full stream refuses appends, and takes more when its spans are delivered', async () => {
    const log = await replica();
    let refused: unknown = null;
    for (let i = 0; refused === null && i < 60; i++) {
      await log.append([slice(`s${i}`, 1, [1], 900_000)]).catch((error) => {
        refused = error;
      });
    }
    expect(refused).toMatchObject({ name: 'TelemetryLogError', kind: 'full' });
    const before = sum(log.counters(1));
    expect(before).toBeGreaterThan(8);
    await drain(log, 1, 1e7);
    await log.expire(0, 1e12);
    await log.append([slice('again', 1, [1])]);
    expect(await drain(log, 1)).toEqual(['again-0']);
    expect(log.counters(1).delivered).toBe(before + 1);
  });
});
