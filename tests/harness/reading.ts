import {
  type BrokerMessage,
  createEventConnections,
  type LostOffsets,
  type Reading,
  type ReadingCalls,
  type ReadingMemory,
  type Source,
} from '../../src/event-connections/index.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { testServices } from './services.ts';
import { until } from './wait.ts';

/** What a ledger keeps of readings: how often each message was taken, in the order of the first time. */
export class TakenMessages implements ReadingCalls {
  readonly deliveries = new Map<string, number>();
  readonly messages: BrokerMessage[] = [];
  readonly lostRanges: LostOffsets[] = [];
  memory: ReadingMemory | null = null;
  /** While it is set, nothing is stored. */
  isAway = false;

  take = async (messages: readonly BrokerMessage[]): Promise<void> => {
    if (this.isAway) throw new Error('the database is away');
    for (const message of messages) {
      const times = this.deliveries.get(message.identity) ?? 0;
      this.deliveries.set(message.identity, times + 1);
      if (times === 0) this.messages.push(message);
    }
  };
  lost = async (range: LostOffsets): Promise<void> => {
    this.lostRanges.push(range);
  };
  recall = async (): Promise<ReadingMemory | null> => this.memory;
  remember = async (memory: ReadingMemory): Promise<void> => {
    this.memory = memory;
  };

  get bodies(): string[] {
    return this.messages.map(({ body }) => body.toString());
  }
}

/** Readings of one connection. Those that a test leaves open are closed by `close`. */
export const readingsOf = (kind: 'nats' | 'kafka', settings: object, egress = createEgress({ deny: [] })) => {
  const services = testServices(undefined as never, { egress });
  const feature = createEventConnections(services, { listTriggersOf: async () => [] });
  const connection = feature.openSettings({ kind, settings });
  const open: Reading[] = [];
  const read = (source: Source, calls: ReadingCalls): Reading => {
    const reading = connection.read(source, calls);
    open.push(reading);
    return reading;
  };
  return {
    connection,
    read,
    /** Reads, and resolves when the reading has begun. */
    begin: async (source: Source, calls: ReadingCalls, withinMs = 20_000): Promise<Reading> => {
      const reading = read(source, calls);
      await until(() => reading.status().state === 'ok', withinMs).catch(() => {
        throw new Error(`the reading did not begin: ${JSON.stringify(reading.status())}`);
      });
      return reading;
    },
    close: () => Promise.all(open.splice(0).map((one) => one.close())),
  };
};
