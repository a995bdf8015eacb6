import type { Attributes, Span, SpanKind } from '@opentelemetry/api';

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /**
   * An application or infrastructure span (HTTP server, database, scheduler): it goes only to integrations
   * with `debug`. Inside an agent's run, to those in scope for that agent. Default false: an agent span.
   */
  application?: boolean;
  /** The agent whose run this span and everything inside it belongs to. Default: that of the span around it. */
  agentId?: string;
  /** An incoming W3C `traceparent` to go under; ignored where it is malformed. */
  traceparent?: string;
}

/** The platform's own tracer. */
export interface Tracing {
  /** Runs `fn` inside a new span, which ends with it; what it throws is recorded on the span and thrown on. */
  withSpan<T>(name: string, options: SpanOptions, fn: (span: Span) => T | Promise<T>): Promise<T>;
  /** The trace id of the span around the caller (32 hex digits), or null. */
  traceId(): string | null;
  /** The W3C `traceparent` to send out from here, or null. */
  traceparent(): string | null;
}
