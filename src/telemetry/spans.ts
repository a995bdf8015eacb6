import { AsyncLocalStorage } from 'node:async_hooks';
import type { Slice, TelemetryLog } from '@agent-platform/otlp/log';
import {
  type Attributes,
  type Context,
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Mutex } from '../lib/semaphore.ts';
import { parseTraceparent } from '../lib/traceparent.ts';
import { platformResource } from './resource.ts';
import type { RoutingTable } from './routing.ts';

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
  /** An incoming W3C `traceparent`, the parent of the span; ignored if it is malformed. */
  traceparent?: string;
}

/** The platform's own tracer. */
export interface Tracing {
  /**
   * Runs `fn` inside a new span, which ends with it; what it throws is recorded on the span and thrown again.
   * An agent's span carries its `gen_ai.agent.id`; outside an agent's run every span is an application span.
   */
  withSpan<T>(name: string, options: SpanOptions, fn: (span: Span) => T | Promise<T>): Promise<T>;
  /**
   * Records an application span that ended just now, after `milliseconds`, inside the span around the caller. There is
   * none outside of a span, after its end, or if no integration with `debug` would get it. `error`: the kind of failure
   * (`error.type`), null if it succeeded.
   */
  ended(
    name: string,
    milliseconds: number,
    options: Pick<SpanOptions, 'kind' | 'attributes'>,
    error: string | null,
  ): void;
  /** The trace id of the span around the caller (32 hex digits), or null. */
  traceId(): string | null;
  /** The W3C `traceparent` to send out from here, or null. */
  traceparent(): string | null;
}

export interface SpansOptions {
  log: Pick<TelemetryLog, 'append'>;
  routes: () => RoutingTable;
  logger: Logger;
  /** Attributes of the platform's resource that its operator chose. Default none. */
  resource?: Readonly<Record<string, string>>;
}

const agentKey = createContextKey('agent id');
const applicationKey = createContextKey('application span');
/** Time that ended spans wait for others to share a record with. */
const batchMs = 50;
const batchSpans = 512;
/** Number of spans that are kept while the log takes nothing (a full disk); the newest beyond it are dropped. */
const mostWaiting = 20_000;

interface Ended {
  span: ReadableSpan;
  agentId: string | null;
  application: boolean;
}

/** Puts ended spans into the telemetry log, in small groups, routed like everything else. */
class LogSpanProcessor implements SpanProcessor {
  readonly #options: SpansOptions;
  readonly #origin = new WeakMap<object, { agentId: string | null; application: boolean }>();
  #ended: Ended[] = [];
  #timer: NodeJS.Timeout | null = null;
  readonly #flushing = new Mutex();
  #dropped = 0;
  #stopped = false;

  constructor(options: SpansOptions) {
    this.#options = options;
  }

  onStart(span: object, context: Context): void {
    const agentId = (context.getValue(agentKey) as string | undefined) ?? null;
    this.#origin.set(span, {
      agentId,
      application: agentId === null || context.getValue(applicationKey) === true,
    });
  }

  onEnd(span: ReadableSpan): void {
    if (this.#stopped || this.#ended.length >= mostWaiting) {
      this.#dropped++;
      return;
    }
    this.#ended.push({ span, ...this.#origin.get(span)! });
    if (this.#ended.length >= batchSpans) this.#soon(0);
    else this.#soon(batchMs);
  }

  /** Resolves when all spans that ended before are durable; rejects with TelemetryLogError, and tries again later. */
  forceFlush(): Promise<void> {
    return this.#flushing.run(() => this.#append());
  }

  /** The last attempt: rejects if spans that ended before cannot be stored. */
  async shutdown(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.forceFlush();
  }

  #soon(milliseconds: number): void {
    if (this.#stopped || (this.#timer !== null && milliseconds > 0)) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.forceFlush().catch((error) => {
        this.#options.logger.error(
          { error: messageOf(error), waiting: this.#ended.length, dropped: this.#dropped },
          'spans cannot be stored',
        );
        this.#soon(1_000);
      });
    }, milliseconds);
  }

  async #append(): Promise<void> {
    if (this.#ended.length === 0) return;
    const ended = this.#ended;
    const { log, routes } = this.#options;
    const table = routes();
    const groups = new Map<string, { routes: readonly number[]; spans: ReadableSpan[] }>();
    for (const { span, agentId, application } of ended) {
      const to = table.forAgent(agentId, application ? 'application' : 'agent');
      const key = to.join();
      const group = groups.get(key) ?? { routes: to, spans: [] };
      groups.set(key, group);
      group.spans.push(span);
    }
    const slices: Slice[] = [];
    for (const { routes: to, spans } of groups.values()) {
      if (to.length === 0) continue;
      const bytes = ProtobufTraceSerializer.serializeRequest(spans)!;
      slices.push({ bytes: Buffer.from(bytes), spans: spans.length, routes: to });
    }
    this.#ended = [];
    try {
      await log.append(slices);
    } catch (error) {
      this.#ended = ended.concat(this.#ended);
      throw error;
    }
  }
}

/**
 * Samples spans. An agent's spans are always recorded, whatever the caller's sampling says. An application span has
 * only its ids if no integration would get it, as in most installations.
 */
const samplerOf = (routes: () => RoutingTable): Sampler => ({
  shouldSample: (context) => {
    const agent = (context.getValue(agentKey) as string | undefined) ?? null;
    const recorded =
      context.getValue(applicationKey) !== true || routes().forAgent(agent, 'application').length > 0;
    return { decision: recorded ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
  },
});

/** The span that an incoming traceparent names; null if it is malformed. */
const remoteSpan = (header: string): SpanContext | null => {
  const [, traceId, spanId, flags] = parseTraceparent(header)?.split('-') ?? [];
  if (flags === undefined) return null;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return { traceId: traceId!, spanId: spanId!, traceFlags, isRemote: true };
};

/** The tracer whose spans end in the telemetry log. `flush` and `stop` wait until they are durable. */
export const createTracing = (
  options: SpansOptions,
): { tracing: Tracing; flush(): Promise<void>; stop(): Promise<void> } => {
  const processor = new LogSpanProcessor(options);
  const provider = new TracerProvider({
    resource: resourceFromAttributes(platformResource(options.resource ?? {})),
    sampler: samplerOf(options.routes),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('agent-platform');
  const current = new AsyncLocalStorage<Context>();
  const here = (): SpanContext | undefined => trace.getSpanContext(current.getStore() ?? ROOT_CONTEXT);

  const tracing: Tracing = {
    traceId: () => here()?.traceId ?? null,
    traceparent: () => {
      const context = here();
      return context ? `00-${context.traceId}-${context.spanId}-01` : null;
    },
    withSpan: async (name, { kind, attributes, application = false, agentId, traceparent }, fn) => {
      let context = current.getStore() ?? ROOT_CONTEXT;
      const remote = traceparent === undefined ? null : remoteSpan(traceparent);
      if (remote) context = trace.setSpanContext(context, remote);
      if (agentId !== undefined) context = context.setValue(agentKey, agentId);
      context = context.setValue(applicationKey, application);
      const agent = context.getValue(agentKey) as string | undefined;
      const span = tracer.startSpan(
        name,
        {
          ...(kind === undefined ? {} : { kind }),
          attributes: {
            ...attributes,
            ...(agent === undefined || application ? {} : { 'gen_ai.agent.id': agent }),
          },
        },
        context,
      );
      try {
        return await current.run(trace.setSpan(context, span), () => fn(span));
      } catch (error) {
        span.recordException(error instanceof Error ? error : messageOf(error));
        span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error) });
        throw error;
      } finally {
        span.end();
      }
    },
    ended: (name, milliseconds, { kind, attributes }, error) => {
      const around = current.getStore();
      if (around === undefined || !trace.getSpan(around)?.isRecording()) return;
      const agent = (around.getValue(agentKey) as string | undefined) ?? null;
      if (options.routes().forAgent(agent, 'application').length === 0) return;
      const now = Date.now();
      const span = tracer.startSpan(
        name,
        {
          ...(kind === undefined ? {} : { kind }),
          startTime: now - milliseconds,
          attributes: { ...attributes, ...(error === null ? {} : { 'error.type': error }) },
        },
        around.setValue(applicationKey, true),
      );
      if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(now);
    },
  };
  return {
    tracing,
    flush: () => processor.forceFlush(),
    stop: () => provider.shutdown(),
  };
};
