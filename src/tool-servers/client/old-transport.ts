import { withTimeout } from '../../lib/with-timeout.ts';

/** Limit of the question and the beginning of the stream, in milliseconds. */
const withinMs = 3_000;
/** Limit of bytes: more than the first event of such a stream has. */
const mostBytes = 4_096;

/** Statuses with which servers refuse a POST to an address that only takes GET. */
const refusals = new Set([400, 404, 405, 406, 415, 501]);

/** Reads the beginning of a stream, until it has an event or is over. */
const beginningOf = async (body: ReadableStream<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (/\n\r?\n/.test(text) || text.length > mostBytes) break;
  }
  return text;
};

/**
 * Returns whether a server that refused a POST with `status` speaks the transport of the revision 2024-11-05: a GET is answered
 * by an event stream whose first event, `endpoint`, names where messages go. Never rejects.
 */
export const speaksOldTransport = async (
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>,
  url: string,
  status: number | undefined,
): Promise<boolean> => {
  if (status === undefined || !refusals.has(status)) return false;
  const end = new AbortController();
  const ask = async (): Promise<boolean> => {
    const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: end.signal });
    const type = response.headers.get('content-type') ?? '';
    if (!response.ok || !response.body || !/^text\/event-stream\b/i.test(type)) return false;
    return /^event: ?endpoint\r?$/m.test(await beginningOf(response.body));
  };
  try {
    return await withTimeout(ask(), withinMs);
  } catch {
    return false;
  } finally {
    end.abort();
  }
};
