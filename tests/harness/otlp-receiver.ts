import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJson, decodeProtobuf, type ReceivedSpan } from '../../packages/otlp/tests/decode.ts';
import { gunzipOneMember } from '../../packages/otlp/tests/gzip.ts';

export type { Attributes, AttributeValue, ReceivedSpan } from '../../packages/otlp/tests/decode.ts';

/** What the receiver responds. Default: 200 with an empty ExportTraceServiceResponse in the request's encoding. */
export interface Behaviour {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** A 200 that says how many spans were refused (`partial_success`). */
  partialSuccess?: { rejectedSpans: number; errorMessage: string };
  /** Wait this many milliseconds before responding. */
  delayMs?: number;
  /** Never respond. */
  hang?: true;
  /** Close the connection without a response. */
  drop?: true;
}

export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  /** As it arrived. */
  body: Buffer;
  /** Decompressed. */
  payload: Buffer;
  spans: ReceivedSpan[];
  /** Why the request is not valid OTLP/HTTP (it gets 4xx whatever the script says); else null. */
  fault: string | null;
  /** The status of the response; null until it is sent. */
  status: number | null;
  /** When it had arrived completely, in milliseconds since 1970. */
  at: number;
}

export type Script =
  | number
  | Behaviour
  | ((request: ReceivedRequest, index: number) => number | Behaviour | Promise<number | Behaviour>);

export interface OtlpReceiver extends AsyncDisposable {
  /** The traces endpoint; every other path is accepted too. */
  readonly url: string;
  readonly port: number;
  /** Every request, in the order of arrival, refused ones too. */
  readonly requests: ReceivedRequest[];
  /** The spans of the requests that got 2xx: what a backend has kept. */
  spans(): ReceivedSpan[];
  /**
   * How to respond to the next requests: a status, a behaviour, or a function of the request and its index since this
   * call.
   */
  respondWith(script: Script): void;
  /** Resolves with `spans()` as soon as there are `n` of them; throws after `timeoutMs`. */
  waitForSpans(n: number, timeoutMs?: number): Promise<ReceivedSpan[]>;
  /** The same for requests, whatever their response was. */
  waitForRequests(n: number, timeoutMs?: number): Promise<ReceivedRequest[]>;
  /** Removes all requests from its record. */
  clear(): void;
  /** Closes the port and all connections, hanging ones too. */
  close(): Promise<void>;
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Fills in payload and spans; throws a Refusal if OTLP/HTTP requires a 4xx. */
function decode(request: ReceivedRequest): void {
  if (request.method !== 'POST') throw new Refusal(405, `method ${request.method}`);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  try {
    if (encoding === 'gzip') request.payload = gunzipOneMember(request.body);
    else if (encoding === 'identity') request.payload = request.body;
    else throw new Refusal(415, `content-encoding ${encoding}`);
    if (type === 'application/x-protobuf') request.spans = decodeProtobuf(request.payload);
    else if (type === 'application/json') request.spans = decodeJson(request.payload);
    else throw new Refusal(415, `content-type ${type}`);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, error instanceof Error ? error.message : String(error));
  }
}

/** ExportTraceServiceResponse {partial_success: {rejected_spans, error_message}} in the encoding of the request. */
function responseBody(json: boolean, partial: Behaviour['partialSuccess']): Buffer {
  if (json) return Buffer.from(JSON.stringify(partial ? { partialSuccess: partial } : {}));
  if (!partial) return Buffer.alloc(0);
  const varint = (n: number): number[] => (n < 128 ? [n] : [(n % 128) | 128, ...varint(Math.floor(n / 128))]);
  const message = Buffer.from(partial.errorMessage);
  const inner = [0x08, ...varint(partial.rejectedSpans), 0x12, ...varint(message.length), ...message];
  return Buffer.from([0x0a, ...varint(inner.length), ...inner]);
}

/**
 * A tracing backend: a real OTLP/HTTP trace receiver on a free port of 127.0.0.1 that keeps all it gets and misbehaves
 * on request. It is strict: what is not valid OTLP/HTTP, or is more than one gzip member, gets 4xx and has its `fault`.
 * It prints nothing.
 */
export async function startOtlpReceiver(options: { port?: number } = {}): Promise<OtlpReceiver> {
  const requests: ReceivedRequest[] = [];
  let script: Script = {};
  let count = 0;
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of [...waiting]) look();
  };

  async function respond(request: ReceivedRequest, response: ServerResponse, index: number): Promise<void> {
    let behaviour: Behaviour;
    try {
      decode(request);
      const scripted = typeof script === 'function' ? await script(request, index) : script;
      behaviour = typeof scripted === 'number' ? { status: scripted } : scripted;
    } catch (error) {
      request.fault = error instanceof Error ? error.message : String(error);
      behaviour = { status: error instanceof Refusal ? error.status : 500, body: request.fault };
    }
    changed();
    if (behaviour.delayMs) await sleep(behaviour.delayMs, undefined, { ref: false });
    if (behaviour.hang) return;
    if (behaviour.drop || response.destroyed) return void response.destroy();
    const json = request.headers['content-type']?.includes('json') ?? false;
    const status = behaviour.status ?? 200;
    response.writeHead(status, {
      'content-type': json ? 'application/json' : 'application/x-protobuf',
      ...behaviour.headers,
    });
    response.end(behaviour.body ?? responseBody(json, behaviour.partialSuccess));
    request.status = status;
    changed();
  }

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => {});
    incoming.on('end', () => {
      const request: ReceivedRequest = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks),
        payload: Buffer.alloc(0),
        spans: [],
        fault: null,
        status: null,
        at: Date.now(),
      };
      requests.push(request);
      void respond(request, response, count++);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  const spans = () =>
    requests.filter((r) => r.status !== null && r.status >= 200 && r.status < 300).flatMap((r) => r.spans);

  function waitFor<T>(what: string, list: () => T[], n: number, timeoutMs: number): Promise<T[]> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        waiting.delete(look);
      };
      const look = () => {
        if (list().length < n) return;
        end();
        resolve(list());
      };
      const timer = setTimeout(() => {
        end();
        const faults = requests.flatMap((r) => r.fault ?? []).slice(0, 3);
        reject(
          new Error(
            `${list().length} of ${n} ${what} after ${timeoutMs} ms (${requests.length} requests${
              faults.length ? `; faults: ${faults.join('; ')}` : ''
            })`,
          ),
        );
      }, timeoutMs);
      waiting.add(look);
      look();
    });
  }

  const close = async () => {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };

  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    port,
    requests,
    spans,
    respondWith: (next) => {
      script = next;
      count = 0;
    },
    waitForSpans: (n, timeoutMs = 10_000) => waitFor('spans', spans, n, timeoutMs),
    waitForRequests: (n, timeoutMs = 10_000) => waitFor('requests', () => requests, n, timeoutMs),
    clear: () => {
      requests.length = 0;
      count = 0;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
