export type { DeadLetter, DeadLetters } from './dead-letters.ts';
export type { DeliveryState, Health } from './delivery.ts';
export type { Counts, Totals } from './log/log.ts';
export type { ReceiveAnswer, ReceiveRequest, Receiver } from './receiver.ts';
export type { Destination, Destinations, RoutingTable, SpanKind } from './routing.ts';
export type { SpanOptions, Tracing } from './spans.ts';
export type { Telemetry, TelemetryOptions, TelemetrySettings } from './telemetry.ts';
