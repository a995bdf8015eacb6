import type { Readable } from 'node:stream';
import { inflate, readBody } from './body.ts';
import { JsonThread } from './json-thread.ts';
import { type Slice, type TelemetryLog, TelemetryLogError } from './log/log.ts';
import { type Encoding, encodingOf, exportResponse, mediaType, statusBody } from './messages.ts';
import type { RoutingTable } from './routing.ts';
import { type Scan, scan, selectSpans } from './wire.ts';

interface ReceiveRequest {
  contentType: string | undefined;
  contentEncoding: string | undefined;
  /** In bytes, where the request says so. */
  contentLength?: number | undefined;
  /** The body as it came over the wire (still encoded); it is the receiver's now. A stream is read up to the limit. */
  body: Buffer | Readable;
}

export interface ReceiveAnswer {
  status: number;
  contentType: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** OTLP/HTTP for traces. */
export interface Receiver {
  /** 200 only when everything accepted is durable. Rejects only on a defect. */
  receive(request: ReceiveRequest): Promise<ReceiveAnswer>;
  /** Since start: spans that were accepted, and those refused one by one. */
  counts(): { accepted: number; refused: number };
}

export interface ReceiverOptions {
  log: TelemetryLog;
  routes: () => RoutingTable;
  /** Of one request: on the wire, and inflated. Default 20 MiB, as the OpenTelemetry Collector's. */
  maxBodyBytes?: number;
  /** Of all requests that are being read, or wait for the disk. Beyond it: 503. Default 256 MiB. */
  maxBytesInMemory?: number;
}

/**
 * A gzip body that inflates to as much is stored and forwarded as it came, as a request of its own: compressing it
 * anew costs about 10 µs a KB, a request 100 to 150 µs. Smaller ones are joined with others and compressed anew.
 */
const forwardedFrom = 64 * 1024;

const answer = (
  encoding: Encoding,
  status: number,
  body: Buffer,
  headers: Record<string, string> = {},
): ReceiveAnswer => ({ status, contentType: mediaType[encoding], headers, body });

/** An error answer of OTLP/HTTP: google.rpc.Status in the request's encoding. */
export const errorAnswer = (
  encoding: Encoding,
  status: number,
  message: string,
  retryAfterSeconds?: number,
): ReceiveAnswer =>
  answer(
    encoding,
    status,
    statusBody(encoding, status, message),
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );

/** Whether the body is gzip: null where it has an encoding that is not supported. */
const isGzip = (contentEncoding: string | undefined): boolean | null => {
  const encodings = (contentEncoding ?? '')
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== '' && one !== 'identity');
  if (encodings.length === 0) return false;
  return encodings.length === 1 && (encodings[0] === 'gzip' || encodings[0] === 'x-gzip') ? true : null;
};

const routesOf = (agent: string | null, table: RoutingTable): number[] =>
  [...new Set(table.forAgent(agent, agent === null ? 'application' : 'agent'))].sort((a, b) => a - b);

/**
 * The slices of a request: one for each distinct set of integrations. A request whose spans all go the same
 * way is its own only slice, byte for byte.
 */
export const slicesOf = (bytes: Buffer, scanned: Scan, table: RoutingTable): Slice[] => {
  const { agents, agentOf, spans, rejected } = scanned;
  const [first] = agentOf;
  if (first !== undefined && rejected === 0 && agentOf.every((agent) => agent === first)) {
    return [{ bytes, spans, routes: routesOf(agents[first]!, table) }];
  }
  const groups = new Map<string, { routes: readonly number[]; group: number; spans: number }>();
  const groupOf = agents.map((agent) => {
    const routes = routesOf(agent, table);
    const key = routes.join();
    const known = groups.get(key) ?? { routes, group: groups.size, spans: 0 };
    groups.set(key, known);
    return known;
  });
  for (const agent of agentOf) if (agent >= 0) groupOf[agent]!.spans++;
  const used = [...groups.values()].filter(({ spans }) => spans > 0);
  if (used.length === 1 && rejected === 0) {
    return [{ bytes, spans, routes: used[0]!.routes }];
  }
  return used
    .filter(({ routes }) => routes.length > 0)
    .map(({ routes, group, spans }) => ({
      routes,
      spans,
      bytes: selectSpans(bytes, (span) => {
        const agent = agentOf[span]!;
        return agent >= 0 && groupOf[agent]!.group === group;
      }),
    }));
};

/**
 * The door of the telemetry path (https://opentelemetry.io/docs/specs/otlp/#otlphttp): decodes the transport,
 * scans, routes, and answers when the log is durable. 401, 405 and 429 are the HTTP side's; `errorAnswer`
 * gives their bodies.
 */
export const createReceiver = (options: ReceiverOptions): Receiver => {
  const { log, routes } = options;
  const maxBodyBytes = options.maxBodyBytes ?? 20 * 1024 * 1024;
  const maxBytesInMemory = options.maxBytesInMemory ?? 256 * 1024 * 1024;
  const json = new JsonThread();
  const counts = { accepted: 0, refused: 0 };
  let inMemory = 0;

  const tooLarge = (encoding: Encoding) =>
    errorAnswer(encoding, 413, `a request must not be larger than ${maxBodyBytes} bytes`);
  const overloaded = (encoding: Encoding) =>
    errorAnswer(encoding, 503, 'too many requests are waiting; try again', 1);

  /** Everything that `reserve` took is given back when the request is answered. */
  const process = async (
    request: ReceiveRequest,
    encoding: Encoding,
    gzip: boolean,
    reserve: (bytes: number) => boolean,
  ): Promise<ReceiveAnswer> => {
    let body: Buffer | string;
    /** The body as it came, where it may be forwarded as it is. */
    let member: Buffer | null = null;
    if (Buffer.isBuffer(request.body)) {
      body = request.body.length > maxBodyBytes ? 'too large' : request.body;
      if (!reserve(request.body.length)) return overloaded(encoding);
    } else {
      try {
        body = await readBody(request.body, request.contentLength ?? 0, maxBodyBytes, reserve);
      } catch {
        return errorAnswer(encoding, 400, 'the body broke off');
      }
    }
    if (!Buffer.isBuffer(body)) {
      const refusal = body === 'no memory' ? overloaded(encoding) : tooLarge(encoding);
      // The rest of the body is not waited for.
      return { ...refusal, headers: { ...refusal.headers, connection: 'close' } };
    }
    if (gzip && body.length > 0) {
      const inflated = await inflate(body, maxBodyBytes);
      if (inflated === 'too large') return tooLarge(encoding);
      if (inflated === 'malformed') return errorAnswer(encoding, 400, 'the body is not valid gzip');
      const { bytes, oneMember } = inflated;
      if (!reserve(bytes.length)) return overloaded(encoding);
      if (encoding === 'protobuf' && bytes.length >= forwardedFrom && oneMember) member = body;
      body = bytes;
    }
    if (encoding === 'json') {
      // What it becomes is no larger.
      if (!reserve(body.length)) return overloaded(encoding);
      const converted = await json.convert(body);
      if (converted === 'lost') {
        return errorAnswer(encoding, 503, 'the body could not be read; try again', 1);
      }
      if (converted === 'too complex')
        return errorAnswer(encoding, 413, 'the body is too complex to be read');
      if ('error' in converted) return errorAnswer(encoding, 400, converted.error);
      body = converted;
    }
    const scanned = scan(body);
    if (scanned === null) {
      return errorAnswer(encoding, 400, 'the body is not a valid ExportTraceServiceRequest');
    }
    try {
      const slices = slicesOf(body, scanned, routes());
      const [first] = slices;
      await log.append(
        member !== null && first?.bytes === body ? [{ ...first, bytes: member, gzip: true }] : slices,
      );
    } catch (error) {
      if (!(error instanceof TelemetryLogError)) throw error;
      return errorAnswer(encoding, 503, error.message, error.kind === 'full' ? 10 : 1);
    }
    counts.accepted += scanned.spans - scanned.rejected;
    counts.refused += scanned.rejected;
    return answer(encoding, 200, exportResponse(encoding, scanned.rejected, scanned.rejection));
  };

  return {
    counts: () => ({ ...counts }),
    receive: async (request) => {
      const encoding = encodingOf(request.contentType);
      if (encoding === null) {
        return errorAnswer('json', 415, 'content-type must be application/x-protobuf or application/json');
      }
      const gzip = isGzip(request.contentEncoding);
      if (gzip === null) return errorAnswer(encoding, 415, 'content-encoding must be gzip or identity');
      let reserved = 0;
      try {
        return await process(request, encoding, gzip, (bytes) => {
          if (inMemory + bytes > maxBytesInMemory) return false;
          inMemory += bytes;
          reserved += bytes;
          return true;
        });
      } finally {
        inMemory -= reserved;
      }
    },
  };
};
