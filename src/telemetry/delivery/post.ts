import type { Compressor } from '@agent-platform/otlp';
import { gzip, mediaType, withResourceAttributes } from '@agent-platform/otlp';
import type { Clock } from '../../lib/clock.ts';
import { Secret } from '../../lib/crypto.ts';
import type { Egress } from '../../lib/egress.ts';
import type { Destination } from '../routing.ts';
import type { InFlightBatch, RequestResult } from './in-flight-batch.ts';
import { outcomeOf, outcomeOfFailure } from './outcome.ts';

/** Sends spans (an ExportTraceServiceRequest) as one request; rejects with EgressError. */
export const postSpans = async (
  egress: Pick<Egress, 'request'>,
  destination: Destination,
  body: Buffer,
  timeoutMs: number,
) => postMember(egress, destination, await ownMember(destination, body), timeoutMs);

const hasAttributes = ({ resourceAttributes }: Destination): boolean =>
  Object.keys(resourceAttributes).length > 0;

/** Spans as one gzip member for this destination alone. */
const ownMember = (destination: Destination, body: Buffer): Promise<Buffer> =>
  gzip(hasAttributes(destination) ? withResourceAttributes(body, destination.resourceAttributes) : body);

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
  /** Limit of one request, in ms. */
  requestTimeoutMs: number;
}

/**
 * Sends a batch, or `chunk` of it, and resolves to the result; null if `signal` aborted it. Never rejects. Of a batch
 * that is sent whole only the compressed bytes are held while the backend works.
 */
export const postBatch = async (
  { egress, compressor, clock, requestTimeoutMs }: PostParts,
  destination: Destination,
  inFlight: InFlightBatch,
  chunk: Buffer | null,
  signal: AbortSignal,
): Promise<RequestResult> => {
  const { spans } = inFlight;
  try {
    const { parts } = inFlight.batch;
    // Bodies that a client compressed are sent as they arrived; all others are compressed once for all integrations.
    // For an integration with attributes of its own, bodies are inflated and compressed again.
    const plain = chunk ?? (hasAttributes(destination) ? await inFlight.chunk() : null);
    const member =
      plain !== null
        ? await ownMember(destination, plain)
        : parts[0]!.gzip
          ? parts[0]!.bytes
          : await compressor.member(parts);
    if (chunk === null) inFlight.release(member.length);
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
