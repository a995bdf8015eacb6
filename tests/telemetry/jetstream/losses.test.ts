import { cp, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSharedLog, type SharedLog } from '@agent-platform/otlp/jetstream';
import { expect, test } from 'vitest';
import { namesIn as names, slice } from '../../../packages/otlp/tests/log.ts';
import { sql } from '../../../src/database/index.ts';
import { silentLogger } from '../../../src/lib/log.ts';
import { streamStore } from '../../../src/telemetry/stream-store/store.ts';
import { describeWithNats, startNats } from '../../harness/nats.ts';
import { useStream } from '../../harness/stream-fixture.ts';
import { until } from '../../harness/wait.ts';

describeWithNats('losses of the stream', () => {
  const fixture = useStream();
  const { replica, close, drain } = fixture;

  test('spans that the stream has lost are counted as discarded, and the rest is delivered', async () => {
    const log = await replica();
    for (const prefix of ['a', 'b', 'c']) await log.append([slice(prefix, 2, [1, 2])]);
    await log.append([slice('large', 2, [1], 1_200_000)]);
    await log.append([slice('d', 2, [1])]);
    await log.caughtUp();
    await fixture.manager.streams.deleteMessage(fixture.stream, 2);
    const chunk = (await fixture.manager.streams.getMessage(fixture.stream, {
      last_by_subj: `${fixture.stream}.chunk`,
    }))!;
    await fixture.manager.streams.deleteMessage(fixture.stream, chunk.seq);
    expect(await drain(log, 1)).toEqual(['a-0', 'a-1', 'c-0', 'c-1', 'd-0', 'd-1']);
    expect(log.counters(1)).toMatchObject({ delivered: 6, discarded: 4, queued: 0 });
    expect(await drain(log, 2)).toEqual(['a-0', 'a-1', 'c-0', 'c-1']);
    expect(log.counters(2)).toMatchObject({ delivered: 4, discarded: 2, queued: 0 });
  });

  test('a replica that starts after messages were lost counts them by the last checkpoint', async () => {
    const log = await replica({ checkpointBytes: 1 });
    for (const prefix of ['a', 'b', 'c']) await log.append([slice(prefix, 2, [1])]);
    await log.caughtUp();
    await log.expire(0, 1e9);
    await close(log);
    await fixture.manager.streams.deleteMessage(fixture.stream, 1);
    const next = await replica();
    const first = (await next.read(1, 1))!;
    expect(names(first)).toEqual(['b-0', 'b-1']);
    await next.commit(first, 2, { delivered: 2 });
    expect(names(await next.read(1, 1))).toEqual(['c-0', 'c-1']);
    expect(next.counters(1)).toMatchObject({ delivered: 2, discarded: 2, queued: 2 });
  });

  test('a replica that was behind when messages were purged continues from the checkpoint saved before', async () => {
    const log = await replica();
    await fixture.manager.streams.purge(fixture.stream, { seq: 11 });
    const state = { time: 1, bytes: 1_000, needs: null, uploads: [], totals: [[1, 5, 500]] };
    await fixture.db.run((executor) =>
      sql`insert into telemetry_marks (stream_id, seq, state) values (${log.id}, 10, ${JSON.stringify(state)}::jsonb)`.execute(
        executor,
      ),
    );
    await log.append([slice('a', 2, [1])]);
    await log.caughtUp();
    // No one has passed these five spans, and they are not there.
    expect(await drain(log, 1)).toEqual(['a-0', 'a-1']);
    expect(log.counters(1)).toMatchObject({ delivered: 2, discarded: 5, queued: 0 });
  });

  test('a server that lost the end of its stream in a power cut costs what it lost, and nothing after it', async () => {
    await using own = await startNats();
    const at = async (): Promise<SharedLog> => {
      const log = await openSharedLog({
        address: own.address(fixture.stream),
        openStore: streamStore(fixture.db),
        log: silentLogger,
        exists: async () => false,
      });
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
      expect(log.counters(1)).toMatchObject({ delivered: 3, discarded: 63, queued: 0 });
    } finally {
      await log.close();
    }
  }, 60_000);
});
