import { Secret } from '../lib/crypto.ts';
import type { Egress } from '../lib/egress.ts';
import { deflate } from './body.ts';
import { mediaType } from './messages.ts';
import type { Destination } from './routing.ts';

/** Sends spans (an ExportTraceServiceRequest) as one request; rejects with EgressError. */
export const postSpans = async (
  egress: Pick<Egress, 'request'>,
  destination: Destination,
  body: Buffer,
  timeoutMs: number,
) => postMember(egress, destination, await deflate(body), timeoutMs);

/** `body`: exactly one gzip member of an ExportTraceServiceRequest. */
export const postMember = (
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
