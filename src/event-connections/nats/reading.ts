import { type ConsumerMessages, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Egress } from '../../lib/egress.ts';
import {
  type BrokerMessage,
  mostMessages,
  type NatsSource,
  type Reading,
  type ReadingCalls,
} from '../reading/reading.ts';
import {
  explained,
  pauseFor,
  type Report,
  SourceChanged,
  supervise,
  takeUntilTaken,
} from '../reading/supervise.ts';
import type { NatsSettings } from '../settings.ts';
import { connectNats } from './connect.ts';
import { ackWaitMs, prepareConsumer } from './consumer.ts';
import { blockedOf } from './failures.ts';

const connectWithinMs = 9_000;
const requestTimeoutMs = 5_000;
const fetchForMs = 5_000;
const positionsEveryMs = 3_000;
/** A fetch asks for about as many messages as have so many bytes. */
const fetchBytes = 8 * 1024 * 1024;
const firstFetch = 32;

const headersOf = (message: JsMsg): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const name of message.headers?.keys() ?? []) {
    headers[name.toLowerCase()] = message.headers!.last(name);
  }
  return headers;
};

const toMessage = (message: JsMsg, stream: string, created: string): BrokerMessage => ({
  identity: `${created} ${message.seq}`,
  eventId: String(message.seq),
  type: message.subject,
  source: stream,
  subject: null,
  time: message.time.toISOString(),
  headers: headersOf(message),
  // The library's data is a view of what the socket received.
  body: Buffer.from(message.data),
});

/** The messages of fetches, which wait to be taken. */
class Queue {
  readonly waiting: JsMsg[] = [];
  isEnded = false;
  failure: unknown;
  #wake = Promise.withResolvers<void>();

  constructor(messages: ConsumerMessages) {
    this.#fill(messages).catch((error: unknown) => {
      this.failure = error;
      this.#end();
    });
  }

  async #fill(messages: ConsumerMessages): Promise<void> {
    for await (const message of messages) {
      this.waiting.push(message);
      this.#wake.resolve();
    }
    this.#end();
  }

  #end(): void {
    this.isEnded = true;
    this.#wake.resolve();
  }

  /** Resolves to the next messages, in order; none at the end. */
  async next(): Promise<JsMsg[]> {
    while (this.waiting.length === 0 && !this.isEnded) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<void>();
    }
    return this.waiting.splice(0, mostMessages);
  }
}

/** Keeps the server from sending messages again while they wait for a `take` that takes long. */
const keepWorking = (held: () => readonly JsMsg[]): NodeJS.Timeout =>
  setInterval(() => {
    for (const message of held()) message.working();
  }, ackWaitMs / 3).unref();

interface Parts {
  connection: NatsConnection;
  source: NatsSource;
  calls: ReadingCalls;
  signal: AbortSignal;
  report: Report;
}

/** Reads with the consumer until `signal` is aborted or the connection ends. */
const readMessages = async ({ connection, source, calls, signal, report }: Parts, created: string) => {
  const consumer = await jetstream(connection, { timeout: requestTimeoutMs }).consumers.get(
    source.stream,
    source.consumer,
  );
  let wanted = firstFetch;
  while (!signal.aborted) {
    const messages = await consumer.fetch({ max_messages: wanted, expires: fetchForMs });
    const stop = () => messages.stop();
    signal.addEventListener('abort', stop);
    const queue = new Queue(messages);
    let current: JsMsg[] = [];
    let bytes = 0;
    let count = 0;
    const timer = keepWorking(() => [...current, ...queue.waiting]);
    try {
      for (;;) {
        current = await queue.next();
        if (current.length === 0) break;
        bytes += current.reduce((sum, { data }) => sum + data.length, 0);
        count += current.length;
        const all = current.map((message) => toMessage(message, source.stream, created));
        const isTaken = await takeUntilTaken(all, calls, signal, report);
        // Others get at once what this replica does not take.
        for (const message of current) isTaken ? message.ack() : message.nak();
        current = [];
      }
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', stop);
      if (!connection.isClosed()) for (const message of [...current, ...queue.waiting]) message.nak();
    }
    if (queue.failure !== undefined) throw queue.failure;
    if (count > 0) {
      const average = Math.max(1, bytes / count);
      wanted = Math.max(1, Math.min(mostMessages, Math.floor(fetchBytes / average), wanted * 2));
    }
  }
};

/** Reports positions until `signal` is aborted. Throws SourceChanged for a stream that was made again. */
const watchPositions = async ({ connection, source, signal, report }: Parts, created: string) => {
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: requestTimeoutMs });
  while (!signal.aborted) {
    const [stream, consumer] = await Promise.all([
      manager.streams.info(source.stream),
      manager.consumers.info(source.stream, source.consumer),
    ]);
    if (stream.created !== created) throw new SourceChanged('The stream was made again.');
    report.positions(consumer.num_pending + consumer.num_ack_pending, [
      {
        partition: null,
        next: consumer.ack_floor.stream_seq + 1,
        end: stream.state.last_seq + 1,
      },
    ]);
    await pauseFor(positionsEveryMs, signal);
  }
};

/** Runs both until one ends, then the other too. Rejects if one did. */
const both = async (
  outer: AbortSignal,
  first: (signal: AbortSignal) => Promise<void>,
  second: (signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const end = new AbortController();
  const signal = AbortSignal.any([outer, end.signal]);
  const run = (fn: (signal: AbortSignal) => Promise<void>) => fn(signal).finally(() => end.abort());
  const results = await Promise.allSettled([run(first), run(second)]);
  const failed = results.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
};

/** Reads a stream, by attempts, until it is closed. */
export const readNats = (
  settings: NatsSettings,
  source: NatsSource,
  given: ReadingCalls,
  { egress, onUnexpected }: { egress: Pick<Egress, 'resolve'>; onUnexpected: (error: unknown) => void },
): Reading => {
  const calls = explained(given);
  return supervise(async (signal, report) => {
    const connection = await connectNats(settings, egress, connectWithinMs);
    try {
      if (signal.aborted) return;
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: requestTimeoutMs });
      const stream = await manager.streams.info(source.stream);
      const { created } = stream;
      const memory = await calls.recall();
      const consumer = await prepareConsumer(manager, source, memory, created);
      if (memory?.sourceId !== created) {
        const next = consumer.ack_floor.stream_seq + 1;
        const position = { partition: null, next, end: stream.state.last_seq + 1 };
        await calls.remember({ sourceId: created, positions: [position] });
      }
      report.reading(created);
      const parts = { connection, source, calls, report };
      await both(
        signal,
        (until) => readMessages({ ...parts, signal: until }, created),
        (until) => watchPositions({ ...parts, signal: until }, created),
      );
      if (!signal.aborted) throw new SourceChanged('The connection to the server was lost.');
    } catch (error) {
      throw blockedOf(error, source.stream, source.consumer);
    } finally {
      // Acknowledgements that are on their way are written first.
      await connection.flush().catch(() => {});
      await connection.close().catch(() => {});
    }
  }, onUnexpected);
};

/** Deletes a consumer of the platform's own. Resolves also if it or its stream is gone. */
export const deleteNatsConsumer = async (
  settings: NatsSettings,
  { stream, consumer }: Pick<NatsSource, 'stream' | 'consumer'>,
  egress: Pick<Egress, 'resolve'>,
): Promise<void> => {
  const connection = await connectNats(settings, egress, connectWithinMs);
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: requestTimeoutMs });
    await manager.consumers.delete(stream, consumer).catch((error: unknown) => {
      if (!(error as { code?: number }).code) throw error;
    });
  } finally {
    await connection.close();
  }
};
