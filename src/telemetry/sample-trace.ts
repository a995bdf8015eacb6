import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { platformResource } from './resource.ts';

/**
 * An ExportTraceServiceRequest with one span that ended at `now` (ms since 1970), as an admin finds it in the backend.
 * `resource`: attributes of the platform's resource that its operator chose.
 */
export const sampleTrace = (now: number, resource: Readonly<Record<string, string>>): Buffer => {
  const ended: ReadableSpan[] = [];
  const provider = new TracerProvider({
    resource: resourceFromAttributes(platformResource(resource)),
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
