import { openSharedLog, type SharedLog, type SharedLogOptions } from '@agent-platform/otlp/jetstream';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { drain } from '../../packages/otlp/tests/log.ts';
import { type Database, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { streamStore } from '../../src/telemetry/stream-store/store.ts';
import { openMigrated } from './database.ts';
import { type Nats, startNats } from './nats.ts';
import { until } from './wait.ts';

/** Replicas that share a telemetry log: a stream for each test, one nats-server and one PostgreSQL database for all. */
class StreamFixture {
  nats!: Nats;
  db!: Database & AsyncDisposable;
  connection!: NatsConnection;
  manager!: JetStreamManager;
  /** The stream of this test. */
  stream = '';
  readonly #open: SharedLog[] = [];

  async setUp(): Promise<void> {
    this.nats = await startNats({ jetstream: 'max_file_store: 14MB' });
    this.db = await openMigrated('postgres');
    this.connection = await connect({
      servers: this.nats.url,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 50,
    });
    this.manager = await jetstreamManager(this.connection);
  }

  async tearDown(): Promise<void> {
    await this.connection?.close();
    await this.db?.[Symbol.asyncDispose]();
    await this.nats?.stop();
  }

  async endTest(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((log) => log.close()));
    await this.manager.streams.delete(this.stream).catch(() => {});
  }

  /** Another replica. */
  replica = async (options: Partial<SharedLogOptions> = {}): Promise<SharedLog> => {
    const log = await openSharedLog({
      address: this.nats.address(this.stream),
      openStore: streamStore(this.db),
      log: silentLogger,
      exists: async () => false,
      ...options,
    });
    this.#open.push(log);
    await log.deliver();
    return log;
  };

  close = async (log: SharedLog): Promise<void> => {
    this.#open.splice(this.#open.indexOf(log), 1);
    await log.close();
  };

  /** Delivers everything that is in the stream. Resolves to the names of the spans. */
  drain = async (log: SharedLog, number: number, maxBytes = 100_000): Promise<string[]> => {
    await log.caughtUp();
    return drain(log, number, maxBytes);
  };

  /** How many messages are in the stream. */
  messages = async (): Promise<number> => (await this.manager.streams.info(this.stream)).state.messages;

  /** `log` takes over an integration, as if its owner had frozen for longer than its lease. */
  takeOver = async (log: SharedLog, number: number): Promise<void> => {
    await until(async () => {
      await this.db.run((reader) =>
        sql`update telemetry_cursors set owned_until = platform_now() - interval '1 second'`.execute(reader),
      );
      await log.refresh();
      await log.deliver();
      // The owner is not frozen: it may have taken its lease again in between.
      return log.owns(number);
    });
  };
}

/** A fixture for all tests of the block. */
export const useStream = (): StreamFixture => {
  const fixture = new StreamFixture();
  let streams = 0;
  beforeAll(() => fixture.setUp());
  beforeEach(() => {
    fixture.stream = `log_${++streams}`;
  });
  afterEach(() => fixture.endTest());
  afterAll(() => fixture.tearDown());
  return fixture;
};
