export { outcomeOf } from './delivery/outcome.ts';
export { postSpans } from './delivery/post.ts';
export { type Health, unusedHealth } from './reports/health.ts';
export { countDelivered, listErrorTimes, listSamples } from './reports/samples.ts';
export type { Destination, Destinations, RoutingTable, SpanSink } from './routing.ts';
export { sampleTrace } from './sample-trace.ts';
export type { SpanOptions, Tracing } from './spans.ts';
export { createTelemetry, type Telemetry } from './telemetry.ts';
