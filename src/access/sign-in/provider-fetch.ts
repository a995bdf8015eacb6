import type { CustomFetch } from 'openid-client';
import { type Egress, EgressError } from '../../lib/egress.ts';

/** For one request, in milliseconds. */
const requestMs = 10_000;

/** A response of the provider that is larger is refused. Claims have at most 64 KB, so that this is never too little. */
const maxResponseBytes = 4 * 1024 * 1024;

const withoutBody = new Set([101, 204, 205, 304]);

/**
 * Returns a `fetch` for openid-client: through `egress`, at most 10 s for a request and `withinMs` for all of them
 * together, with bounded responses; `signal` ends it early. It rejects with EgressError. Of the headers only the Content-Type is passed on.
 */
export const providerFetch = (egress: Egress, withinMs = requestMs, signal?: AbortSignal): CustomFetch => {
  const deadline = performance.now() + withinMs;
  return async (url, { method, headers, body }) => {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) throw new EgressError('timeout', 'no response in time');
    const sent = body === null || body === undefined ? undefined : String(body);
    const response = await egress.request(url, {
      method,
      // A compressed body could be any size.
      headers: { ...headers, 'accept-encoding': 'identity' },
      ...(sent === undefined ? {} : { body: sent }),
      timeoutMs: Math.min(requestMs, leftMs),
      maxBodyBytes: maxResponseBytes,
      ...(signal && { signal }),
    });
    if (response.truncated) throw new EgressError('closed', 'the response is too large');
    const type = response.headers['content-type'];
    return new Response(withoutBody.has(response.status) ? null : new Uint8Array(response.body), {
      // A Response has no other status; whatever is beyond them is a fault of the provider.
      status: response.status > 599 ? 502 : Math.max(200, response.status),
      headers: type === undefined ? {} : { 'content-type': type },
    });
  };
};
