import { encodingOf } from '@agent-platform/otlp';
import type { RawRequest, RawResponse, RawRoute } from '../../http/index.ts';
import { ApiError } from '../../lib/errors.ts';
import { errorResponse, type ReceiveResponse, type Receiver } from './receiver.ts';

const one = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

const toRaw = (response: ReceiveResponse, headers: Record<string, string> = {}): RawResponse => ({
  status: response.status,
  headers: { 'content-type': response.contentType, ...response.headers, ...headers },
  body: response.body,
});

const content = (json: Record<string, unknown>) => ({
  'application/json': { schema: json },
  'application/x-protobuf': { schema: { type: 'string', format: 'binary' } },
});

const status = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'integer', description: 'A google.rpc.Code.' },
    message: { type: 'string' },
  },
};

/** OTLP/HTTP for traces: any API key may send; errors are `Status` bodies in the request's encoding. */
export const telemetryRoute = (receiver: Receiver): RawRoute => ({
  paths: ['/api/v2/telemetry/v1/traces', '/api/v1/telemetry/v1/traces', '/v1/traces'],
  document: {
    path: '/telemetry/v1/traces',
    id: 'sendTraces',
    role: 'member',
    scope: 'telemetry',
    operation: {
      summary: 'Send traces over OTLP/HTTP',
      description:
        'ExportTraceServiceRequest in protobuf or JSON, as it is or in gzip or zstd, as any OpenTelemetry SDK sends it. The agent is named by `gen_ai.agent.id` on the span or its resource. 200 means that every accepted span is durable. Errors are google.rpc.Status in the encoding of the request.',
      requestBody: { required: true, content: content({ type: 'object' }) },
      responses: {
        200: {
          description: 'ExportTraceServiceResponse, with `partialSuccess` if spans were refused.',
          content: content({
            type: 'object',
            properties: {
              partialSuccess: {
                type: 'object',
                properties: {
                  rejectedSpans: { type: 'string', description: 'An int64.' },
                  errorMessage: { type: 'string' },
                },
              },
            },
          }),
        },
        ...Object.fromEntries(
          [400, 401, 405, 413, 415, 429, 503].map((code) => [
            code,
            { description: 'google.rpc.Status', content: content(status) },
          ]),
        ),
        500: {
          description: 'Server error; retry with backoff.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  },
  handler: async ({ method, headers, body, authenticate }: RawRequest) => {
    const contentType = one(headers['content-type']);
    const encoding = encodingOf(contentType) ?? 'json';
    try {
      await authenticate();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return toRaw(errorResponse(encoding, error.status, error.message), {
        ...error.headers,
        ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      });
    }
    if (method !== 'POST') {
      return toRaw(errorResponse(encoding, 405, 'Traces are sent with POST.'), { allow: 'POST' });
    }
    return toRaw(
      await receiver.receive({
        contentType,
        contentEncoding: one(headers['content-encoding']),
        contentLength: Number(headers['content-length'] ?? 0),
        body,
      }),
    );
  },
});
