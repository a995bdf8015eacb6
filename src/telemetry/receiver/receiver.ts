import type { Readable } from 'node:stream';
import {
  type Encoding,
  encodingOf,
  exportResponse,
  gunzip,
  gzip,
  type Inflated,
  JsonThread,
  mediaType,
  mostSpans,
  type Reserve,
  readBody,
  release,
  type Scan,
  scan,
  statusBody,
  unzstd,
} from '@agent-platform/otlp';
import { type TelemetryLog, TelemetryLogError } from '@agent-platform/otlp/log';
import type { RoutingTable } from '../routing.ts';
import { slicesOf } from './slices.ts';

interface ReceiveRequest {
  contentType: string | undefined;
  contentEncoding: string | undefined;
  /** Length of the body in bytes, if the request says it. */
  contentLength?: number | undefined;
  /** The body as it arrived (still encoded). A stream is read up to the limit. */
  body: Buffer | Readable;
}

export interface ReceiveResponse {
  status: number;
  contentType: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** OTLP/HTTP for traces. */
export interface Receiver {
  /** 200 only when everything accepted is durable. Rejects only on a defect. */
  receive(request: ReceiveRequest): Promise<ReceiveResponse>;
  /** Returns the spans since the start: those accepted, and those refused one by one. */
  counts(): { accepted: number; refused: number };
}

export interface ReceiverOptions {
  log: Pick<TelemetryLog, 'append'>;
  routes: () => RoutingTable;
  /** Called with the agents that an accepted request names, each once; null: none is named. */
  onAccepted?: (agents: Iterable<string | null>) => void;
  /** Limit of one request: on the wire, and inflated. Default 20 MiB, as the OpenTelemetry Collector's. */
  maxBodyBytes?: number;
  /** Limit of all requests that are being read or wait for the disk. Beyond it: 503. Default 256 MiB. */
  maxBytesInMemory?: number;
  /** Time that the rest of a body that is refused may take to arrive. Default 10 s. */
  dropMs?: number;
}

/**
 * From this size in bytes, a request that goes whole to the same integrations is stored as one gzip member and
 * forwarded as a request of its own: the body as it arrived, or compressed here, once for all. Compressing takes about
 * 10 µs a KB, a request of its own 100 to 150 µs for each integration, so smaller ones are joined with others when they
 * are sent.
 */
const storedGzippedFrom = 32 * 1024;

const respond = (
  encoding: Encoding,
  status: number,
  body: Buffer,
  headers: Record<string, string> = {},
): ReceiveResponse => ({ status, contentType: mediaType[encoding], headers, body });

/** An error response of OTLP/HTTP: google.rpc.Status in the request's encoding. */
export const errorResponse = (
  encoding: Encoding,
  status: number,
  message: string,
  retryAfterSeconds?: number,
): ReceiveResponse =>
  respond(
    encoding,
    status,
    statusBody(encoding, status, message),
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );

/** Supported encodings: the function that inflates a body, and the name that messages use. */
const decoders = {
  gzip: { name: 'gzip', inflate: gunzip },
  'x-gzip': { name: 'gzip', inflate: gunzip },
  zstd: { name: 'zstd', inflate: unzstd },
};

type Decoder = (typeof decoders)[keyof typeof decoders];

/** Returns the decoder of the body; 'none' if it is not encoded, null if its encoding is not supported. */
const decoderOf = (contentEncoding: string | undefined): Decoder | 'none' | null => {
  const encodings = (contentEncoding ?? '')
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== '' && one !== 'identity');
  const [only, ...more] = encodings;
  if (only === undefined) return 'none';
  return more.length === 0 && Object.hasOwn(decoders, only) ? decoders[only as keyof typeof decoders] : null;
};

/** The agents that the request names, without those whose spans were all refused. */
const agentsOf = ({ agents, agentOf, rejected }: Scan): Iterable<string | null> =>
  rejected === 0 ? agents : new Set(agentOf.filter((agent) => agent >= 0).map((agent) => agents[agent]!));

/**
 * Receives OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp): decodes the transport, scans, routes, and
 * responds when the log is durable. The route responds with 401, 405 and 429, by `errorResponse`.
 */
export const createReceiver = (options: ReceiverOptions): Receiver => {
  const { log, routes, onAccepted } = options;
  const maxBodyBytes = options.maxBodyBytes ?? 20 * 1024 * 1024;
  const maxBytesInMemory = options.maxBytesInMemory ?? 256 * 1024 * 1024;
  const json = new JsonThread();
  const counts = { accepted: 0, refused: 0 };
  let inMemory = 0;

  const tooLarge = (encoding: Encoding) =>
    errorResponse(encoding, 413, `a request must not be larger than ${maxBodyBytes} bytes`);
  const overloaded = (encoding: Encoding) =>
    errorResponse(encoding, 503, 'too many requests are waiting; try again', 1);

  /** The body as it arrived, or the refusal. */
  const read = async (
    { body, contentLength = 0 }: ReceiveRequest,
    encoding: Encoding,
    reserve: Reserve,
  ): Promise<Buffer | ReceiveResponse> => {
    if (Buffer.isBuffer(body)) {
      if (body.length > maxBodyBytes) return tooLarge(encoding);
      return reserve(body.length) ? Buffer.from(body) : overloaded(encoding);
    }
    let found: Awaited<ReturnType<typeof readBody>>;
    try {
      found = await readBody(body, contentLength, maxBodyBytes, reserve, options.dropMs ?? 10_000);
    } catch {
      return errorResponse(encoding, 400, 'the body broke off');
    }
    if (Buffer.isBuffer(found)) return found;
    return found === 'no memory' ? overloaded(encoding) : tooLarge(encoding);
  };

  const decode = async (
    body: Buffer,
    decoder: Decoder,
    encoding: Encoding,
    reserve: Reserve,
  ): Promise<Inflated | ReceiveResponse> => {
    const inflated = await decoder.inflate(body, maxBodyBytes);
    if (inflated === 'too large') return tooLarge(encoding);
    if (inflated === 'malformed') {
      return errorResponse(encoding, 400, `the body is not valid ${decoder.name}`);
    }
    return reserve(inflated.bytes.length) ? inflated : overloaded(encoding);
  };

  const fromJson = async (body: Buffer, reserve: Reserve): Promise<Buffer | ReceiveResponse> => {
    // The protobuf is no larger.
    if (!reserve(body.length)) return overloaded('json');
    const converted = await json.convert(body);
    if (Buffer.isBuffer(converted)) return converted;
    if (converted === null) return errorResponse('json', 503, 'the body could not be read; try again', 1);
    return errorResponse('json', 400, converted.error);
  };

  /** `member`: the body as it arrived, if that is one gzip member. Everything is durable when it resolves with 200. */
  const store = async (
    bytes: Buffer,
    member: Buffer | null,
    encoding: Encoding,
  ): Promise<ReceiveResponse> => {
    const scanned = scan(bytes);
    if (scanned === null) {
      const most = mostSpans.toLocaleString('en');
      const message = `the body is not a valid ExportTraceServiceRequest of at most ${most} spans`;
      return errorResponse(encoding, 400, message);
    }
    const { spans, rejected, rejection } = scanned;
    let slices = slicesOf(bytes, scanned, routes());
    const [first] = slices;
    if (first?.bytes === bytes && bytes.length >= storedGzippedFrom && first.routes.length > 0) {
      slices = [{ ...first, bytes: member ?? (await gzip(bytes)), gzip: true }];
      release(bytes);
    }
    try {
      await log.append(slices);
      for (const slice of slices) release(slice.bytes);
    } catch (error) {
      if (!(error instanceof TelemetryLogError)) throw error;
      return errorResponse(encoding, 503, error.message, error.kind === 'full' ? 10 : 1);
    }
    counts.accepted += spans - rejected;
    counts.refused += rejected;
    onAccepted?.(agentsOf(scanned));
    return respond(encoding, 200, exportResponse(encoding, rejected, rejection));
  };

  /** Whatever `reserve` took is given back after the response. */
  const handle = async (
    request: ReceiveRequest,
    encoding: Encoding,
    decoder: Decoder | 'none',
    reserve: Reserve,
  ): Promise<ReceiveResponse> => {
    const body = await read(request, encoding, reserve);
    if (!Buffer.isBuffer(body)) return body;
    const inflated =
      decoder !== 'none' && body.length > 0
        ? await decode(body, decoder, encoding, reserve)
        : { bytes: body, oneMember: false };
    if (!('bytes' in inflated)) return inflated;
    const { bytes, oneMember } = inflated;
    if (encoding === 'protobuf') {
      return store(bytes, oneMember ? body : null, encoding);
    }
    const converted = await fromJson(bytes, reserve);
    return Buffer.isBuffer(converted) ? store(converted, null, encoding) : converted;
  };

  return {
    counts: () => ({ ...counts }),
    receive: async (request) => {
      const encoding = encodingOf(request.contentType);
      if (encoding === null) {
        return errorResponse('json', 415, 'content-type must be application/x-protobuf or application/json');
      }
      const decoder = decoderOf(request.contentEncoding);
      if (decoder === null) {
        return errorResponse(encoding, 415, 'content-encoding must be gzip, zstd or identity');
      }
      let reserved = 0;
      try {
        return await handle(request, encoding, decoder, (bytes) => {
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
