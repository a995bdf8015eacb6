import type { Clock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress.ts';
import type { Logger } from '../lib/log.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Health } from './delivery.ts';
import type { Receiver } from './receiver.ts';
import type { Destinations } from './routing.ts';
import type { Tracing } from './spans.ts';

/** Advanced settings, asked for whenever they are needed, so that a change takes effect at once. */
export interface TelemetrySettings {
  retentionHours(): number;
  retentionMegabytes(): number;
}

export interface TelemetryOptions {
  /** The folder of the telemetry log; made where it is missing. One process at a time. */
  directory: string;
  destinations: Destinations;
  settings: TelemetrySettings;
  egress: Egress;
  log: Logger;
  clock?: Clock;
  /** From 0 to 1, for the jitter of retries. */
  random?: () => number;
}

/** The telemetry path: in at the receiver and the tracer, through the log, out by delivery. */
export interface Telemetry {
  receiver: Receiver;
  tracing: Tracing;
  deadLetters: DeadLetters;
  /** The state and the account of an integration (product, section 8); undefined for a number never heard of. */
  health(number: number): Promise<Health | undefined>;
  /** A test of the integration succeeded: a paused delivery goes on at once. */
  resume(number: number): void;
  /** Ended spans of the platform are durable. */
  flush(): Promise<void>;
  /** Starts delivery and retention. `destinations` must be loaded by then. */
  start(): void;
  /** Ends delivery within seconds, flushes spans, closes the log. */
  stop(): Promise<void>;
}
