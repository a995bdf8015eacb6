import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ServerOptions } from './http/index.ts';
import type { Tracing } from './telemetry/index.ts';

/**
 * Makes a span of each request.
 * https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */
export const traceRequests =
  (tracing: Tracing): NonNullable<ServerOptions['trace']> =>
  ({ method, route, path, scheme, traceparent }, fn) =>
    tracing.withSpan(
      `${method} ${route}`,
      {
        application: true,
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': method,
          'http.route': route,
          'url.path': path,
          'url.scheme': scheme,
        },
        ...(traceparent ? { traceparent } : {}),
      },
      async (span) => {
        const status = await fn(tracing.traceparent()!);
        span.setAttribute('http.response.status_code', status);
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      },
    );
