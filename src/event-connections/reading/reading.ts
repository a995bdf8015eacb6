/** A message of a broker that a reading hands over. */
export interface BrokerMessage {
  /** The same for each delivery of this message, and for no other: it stays so if the source is made again. */
  identity: string;
  /** The broker's name for it: the sequence of a stream, or `partition/offset`. */
  eventId: string;
  type: string | null;
  source: string;
  subject: string | null;
  /** When the broker stored it, as an ISO 8601 time. */
  time: string | null;
  /** Names in lower case. Of a name with several values the last. Values are UTF-8. */
  headers: Record<string, string>;
  body: Buffer;
}

/** How far a partition is read. A stream is one partition, null. */
export interface Position {
  partition: number | null;
  /** The sequence or offset that is read next. */
  next: number;
  /** The one that the next message will get. */
  end: number;
}

/** What is kept of a reading, in case the broker loses its position. */
export interface ReadingMemory {
  /** What distinguishes the source from one that is made again under the same name. */
  sourceId: string;
  positions: Position[];
}

/** Offsets of a partition that the broker dropped before they were read, both included. */
export interface LostOffsets {
  /** The topic, whatever its name. */
  sourceId: string;
  partition: number;
  from: number;
  to: number;
}

export interface ReadingCalls {
  /**
   * Takes messages, at most `mostMessages`, in the order of their partition. Resolves after the commit: then they are
   * acknowledged. While it rejects the same messages are offered again.
   */
  take(messages: readonly BrokerMessage[]): Promise<void>;
  /** Records dropped offsets. It is called again for the same range if it is not known whether the call came through. */
  lost(range: LostOffsets): Promise<void>;
  /** Resolves to what `remember` was last given by any replica. */
  recall(): Promise<ReadingMemory | null>;
  /** Stores the beginning of a reading before its first message is read. */
  remember(memory: ReadingMemory): Promise<void>;
}

/** The most messages of one `take`. */
export const mostMessages = 500;

export interface ReadingStatus {
  state: 'ok' | 'connecting' | 'failing';
  /** Why nothing can be read until someone changes something; null while that is not known. */
  blocked: string | null;
  /** Messages that are not read yet; null while that is not known. */
  lag: number | null;
  last_error: string | null;
  last_read_at: Date | null;
  positions: Position[];
  /** The source that the positions belong to; null before it was found. */
  sourceId: string | null;
}

/** Reads a source until it is closed, over every outage. */
export interface Reading {
  status(): ReadingStatus;
  /** Resolves when nothing of it runs any more. What was not acknowledged comes again, to whoever reads next. */
  close(): Promise<void>;
}

/** A stream of JetStream and the consumer that reads it. */
export interface NatsSource {
  kind: 'nats';
  stream: string;
  subjects: readonly string[] | null;
  start: 'new' | 'all';
  consumer: string;
  /** Whether the consumer is the platform's own: then it is made to fit. */
  isOwn: boolean;
}

/** A topic and the group that reads it. */
export interface KafkaSource {
  kind: 'kafka';
  topic: string;
  group: string;
  start: 'latest' | 'earliest';
}

export type Source = NatsSource | KafkaSource;
