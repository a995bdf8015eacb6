export type { Health } from './delivery.ts';
export { postSpans } from './exporter.ts';
export { encodingOf } from './messages.ts';
export { outcomeOf } from './outcome.ts';
export { field, varintField } from './protobuf.ts';
export { errorAnswer, type ReceiveAnswer, type Receiver } from './receiver.ts';
export type { Destination, Destinations, RoutingTable } from './routing.ts';
export type { SpanOptions, Tracing } from './spans.ts';
export { createTelemetry, type Telemetry } from './telemetry.ts';
