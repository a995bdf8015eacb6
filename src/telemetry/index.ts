export type { DeadLetter, DeadLetters } from './dead-letters.ts';
export type { DeliveryState, Health } from './delivery.ts';
export { postSpans } from './exporter.ts';
export type { Counts, Totals } from './log/log.ts';
export { encodingOf, statusBody } from './messages.ts';
export { outcomeOf, outcomeOfFailure } from './outcome.ts';
export { field, varintField } from './protobuf.ts';
export { errorAnswer, type ReceiveAnswer, type ReceiveRequest, type Receiver } from './receiver.ts';
export type { Destination, Destinations, RoutingTable, SpanKind } from './routing.ts';
export type { SpanOptions, Tracing } from './spans.ts';
export {
  createTelemetry,
  type Telemetry,
  type TelemetryOptions,
  type TelemetrySettings,
} from './telemetry.ts';
