import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';

/**
 * An ExportTraceServiceRequest with one span that ended at `now` (ms since 1970), as an admin finds it in the backend.
 */
export const sampleTrace = (now: number): Buffer => {
  const ended: ReadableSpan[] = [];
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'agent-platform' }),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      {
        onStart: () => {},
        onEnd: (span) => ended.push(span),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  const options = { kind: SpanKind.INTERNAL, startTime: now - 1 };
  provider.getTracer('agent-platform').startSpan('connection test', options, ROOT_CONTEXT).end(now);
  return Buffer.from(ProtobufTraceSerializer.serializeRequest(ended)!);
};
