import type { Clock } from '../../lib/clock.ts';
import { Secret } from '../../lib/crypto.ts';
import type { Egress } from '../../lib/egress.ts';
import type { Compressor } from '../otlp/compress.ts';
import { gzip } from '../otlp/gzip.ts';
import { mediaType } from '../otlp/messages.ts';
import type { Destination } from '../routing.ts';
import type { Answer, Parcel } from './in-flight-batch.ts';
import { outcomeOf, outcomeOfFailure } from './outcome.ts';

/** Sends spans (an ExportTraceServiceRequest) as one request; rejects with EgressError. */
export const postSpans = async (
  egress: Pick<Egress, 'request'>,
  destination: Destination,
  body: Buffer,
  timeoutMs: number,
) => postMember(egress, destination, await gzip(body), timeoutMs);

/** `body`: exactly one gzip member of an ExportTraceServiceRequest. */
const postMember = (
  egress: Pick<Egress, 'request'>,
  destination: Destination,
  body: Buffer,
  timeoutMs: number,
  signal?: AbortSignal,
) => {
  const headers: Record<string, string> = {
    'content-type': mediaType.protobuf,
    'content-encoding': 'gzip',
    'user-agent': 'agent-platform',
  };
  for (const [name, value] of destination.headers) {
    headers[name.toLowerCase()] = value instanceof Secret ? value.reveal() : value;
  }
  return egress.request(destination.url, {
    method: 'POST',
    headers,
    body,
    timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
};

export interface PostParts {
  egress: Pick<Egress, 'request'>;
  compressor: Compressor;
  clock: Clock;
  /** Of one request, in ms. */
  requestTimeoutMs: number;
}

/**
 * Sends a parcel, or `piece` of it, and says what came of it; null where `signal` ended it. Never rejects. Of what is
 * sent whole only the compressed bytes are held while the backend thinks.
 */
export const postParcel = async (
  { egress, compressor, clock, requestTimeoutMs }: PostParts,
  destination: Destination,
  parcel: Parcel,
  piece: Buffer | null,
  signal: AbortSignal,
): Promise<Answer> => {
  const { spans } = parcel;
  try {
    const { parts } = parcel.batch;
    // Of what a client compressed its own bytes; all else is compressed once for all integrations.
    const member =
      piece !== null ? await gzip(piece) : parts[0]!.gzip ? parts[0]!.bytes : await compressor.member(parts);
    if (piece === null) parcel.letGo(member.length);
    const response = await postMember(egress, destination, member, requestTimeoutMs, signal);
    return outcomeOf(destination, response, spans, clock.now());
  } catch (error) {
    if (signal.aborted) return null;
    try {
      return outcomeOfFailure(error);
    } catch {
      return { kind: 'defect', error };
    }
  }
};
