import { openSharedLog } from '@agent-platform/otlp/jetstream';
import { afterAll, beforeAll } from 'vitest';
import { conformance } from '../../../packages/otlp/tests/conformance.ts';
import type { Database } from '../../../src/database/index.ts';
import { silentLogger } from '../../../src/lib/log.ts';
import { streamStore } from '../../../src/telemetry/stream-store/store.ts';
import { openMigrated } from '../../harness/database.ts';
import { describeWithNats, type Nats, startNats } from '../../harness/nats.ts';

/**
 * A database whose caller dies: at step 1 in the middle of the next transaction, at step 2 after it is committed and
 * before its result is known, and so on.
 */
const dyingDatabase = (db: Database) => {
  let left = Number.POSITIVE_INFINITY;
  const step = (): void => {
    if (--left <= 0) throw new Error('the process is dead');
  };
  const dying: Database = {
    ...db,
    run: (fn) => (left <= 0 ? Promise.reject(new Error('the process is dead')) : db.run(fn)),
    tx: async (fn) => {
      const result = await db.tx(async (tx) => {
        const value = await fn(tx);
        step();
        return value;
      });
      step();
      return result;
    },
  };
  return {
    db: dying,
    dieAt: async (at: number) => {
      left = at;
    },
    revive: () => {
      left = Number.POSITIVE_INFINITY;
    },
  };
};

describeWithNats('the telemetry log on JetStream', () => {
  let nats: Nats;
  let db: Database & AsyncDisposable;
  let streams = 0;
  beforeAll(async () => {
    nats = await startNats();
    db = await openMigrated('postgres');
  });
  afterAll(async () => {
    await db?.[Symbol.asyncDispose]();
    await nats?.stop();
  });
  conformance(async () => {
    const address = nats.address(`log_${++streams}`);
    let log: Awaited<ReturnType<typeof openSharedLog>>;
    const { db: dying, dieAt, revive } = dyingDatabase(db);
    return {
      open: async () => {
        log = await openSharedLog({
          address,
          openStore: streamStore(dying),
          log: silentLogger,
          exists: async () => false,
          checkpointBytes: 1_500,
        });
        await log.deliver();
        return log;
      },
      settled: () => log.caughtUp(),
      clear: async () => {},
      dieAt,
      revive,
    };
  }, 8);
});
