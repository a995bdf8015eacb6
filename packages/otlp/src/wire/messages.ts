import { field, varintField, WireReader } from './protobuf.ts';

/** The encoding of a request over OTLP/HTTP, and so of its response. */
export type Encoding = 'protobuf' | 'json';

export const mediaType = { protobuf: 'application/x-protobuf', json: 'application/json' } as const;

/** The encoding that a content type names, whatever its case and parameters; null for any other. */
export const encodingOf = (contentType: string | undefined): Encoding | null => {
  const type = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type === 'application/x-protobuf' || type === 'application/protobuf') return 'protobuf';
  return type === 'application/json' ? 'json' : null;
};

/** HTTP statuses as codes of google.rpc.Code. */
const rpcCodes: Record<number, number> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  413: 8,
  415: 3,
  429: 8,
  503: 14,
};

/** The body of an error response: google.rpc.Status, in the request's encoding. `status` is the HTTP status. */
export const statusBody = (encoding: Encoding, status: number, message: string): Buffer => {
  const code = rpcCodes[status] ?? 13;
  return encoding === 'json'
    ? Buffer.from(JSON.stringify({ code, message }))
    : Buffer.concat([varintField(1, code), field(2, Buffer.from(message))]);
};

/** ExportTraceServiceResponse; `partial_success` only if spans were rejected. */
export const exportResponse = (encoding: Encoding, rejected: number, message: string): Buffer => {
  if (encoding === 'json') {
    return Buffer.from(
      rejected === 0
        ? '{}'
        : JSON.stringify({ partialSuccess: { rejectedSpans: String(rejected), errorMessage: message } }),
    );
  }
  if (rejected === 0) return Buffer.alloc(0);
  return field(1, Buffer.concat([varintField(1, rejected), field(2, Buffer.from(message))]));
};

/** Returns the rejected spans that a backend's 2xx response reports; none if its body is not such a message. */
export const partialSuccess = (
  contentType: string | undefined,
  body: Buffer,
): { rejected: number; message: string } => {
  const none = { rejected: 0, message: '' };
  if (body.length === 0) return none;
  return (encodingOf(contentType) === 'json' ? fromJson(body) : fromProtobuf(body)) ?? none;
};

const fromJson = (body: Buffer): { rejected: number; message: string } | null => {
  try {
    const partial = JSON.parse(body.toString())?.partialSuccess ?? {};
    const rejected = Math.max(0, Number(partial.rejectedSpans) || 0);
    return { rejected, message: String(partial.errorMessage ?? '') };
  } catch {
    return null;
  }
};

const fromProtobuf = (body: Buffer): { rejected: number; message: string } | null => {
  const r = new WireReader(body);
  let rejected = 0;
  let message = '';
  while (r.at < body.length) {
    const tag = r.tag(body.length);
    if (tag !== 10) {
      r.skipField(tag, body.length);
      continue;
    }
    const end = r.fieldEnd(body.length);
    while (r.at < end) {
      const inner = r.tag(end);
      if (inner === 8) rejected = r.varint64(end);
      else if (inner === 18) {
        const textEnd = r.fieldEnd(end);
        message = body.toString('utf8', r.at, textEnd);
        r.at = textEnd;
      } else r.skipField(inner, end);
    }
  }
  // A negative int64 reads as more than 2^63: nonsense, so nothing was rejected.
  return r.bad ? null : { rejected: rejected < 2 ** 53 ? rejected : 0, message };
};
