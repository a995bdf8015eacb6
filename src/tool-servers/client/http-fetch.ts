import type { Egress } from '../../lib/egress.ts';
import { EgressError, failureOf } from '../../lib/egress-exchange.ts';
import type { HttpSettings } from '../settings.ts';
import { type CallTrace, currentCall } from './call-trace.ts';
import { ResponseTooLarge } from './failures.ts';

/** The largest body of one response, in bytes. */
const maxBodyBytes = 16 * 1024 * 1024;

/** The client reads what has arrived before this many milliseconds are over. */
const readWithinMs = 100;

/** Number of attempts in a row to resume a stream, after which the client gives up. */
const maxFailedResumes = 2;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Calls `onChunk` for the bytes of `body`, and `onEnd` when no more come, for whatever reason. */
const watched = (
  body: ReadableStream<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void = () => {},
  onEnd: () => void = () => {},
): ReadableStream<Uint8Array> => {
  const reader = body.getReader();
  let size = 0;
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          onEnd();
          return;
        }
        size += value.length;
        if (size > maxBodyBytes) throw new ResponseTooLarge('the response is too large');
        onChunk(value);
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        reader.cancel().catch(() => {});
        onEnd();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
};

const rewrapped = (response: Response, body: ReadableStream<Uint8Array>): Response =>
  new Response(body, {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers] as [string, string][],
  });

/** The response, with a limit for its body. */
const limited = (response: Response): Response =>
  response.body ? rewrapped(response, watched(response.body)) : response;

/** Sends a request through egress. Rejects with EgressError, unless the caller aborted it. */
const send = async (
  egress: Egress,
  url: string | URL,
  init: RequestInit | undefined,
  onSend?: () => void,
): Promise<Response> => {
  try {
    return await egress.fetchOnNewConnection(url, { ...init, onSend });
  } catch (error) {
    if (init?.signal?.aborted) throw error;
    const { code, message } = ((error as Error).cause ?? {}) as { code?: string; message?: string };
    if (code === 'UND_ERR_CONNECT_TIMEOUT') throw new EgressError('connect', 'no connection in time');
    if (message === 'bad port') throw new EgressError('connect', 'the port is one that fetch never uses');
    throw failureOf(error);
  }
};

/** A fetch without any of the server's secrets, for the authorization server. */
export const createPlainFetch =
  (egress: Egress): Fetch =>
  async (url, init) =>
    limited(await send(egress, url, init));

const isToolCall = (init: RequestInit | undefined): boolean =>
  init?.method === 'POST' &&
  typeof init.body === 'string' &&
  (JSON.parse(init.body) as { method?: unknown }).method === 'tools/call';

/**
 * Looks for `id:` lines in an event stream: the client resumes a stream that has them by a GET (Last-Event-ID), so that
 * the end of such a stream is not the end of the call.
 */
const createIdScanner = () => {
  let tail = '\n';
  let found = false;
  return {
    scan: (chunk: Uint8Array) => {
      if (found) return;
      const text = tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
      found = /[\r\n]id:/.test(text);
      tail = text.slice(-4);
    },
    found: () => found,
  };
};

/**
 * The fetch of the connections to one server: its headers, only to its own origin, and for a tool call what the client
 * library does not notice: whether anything was sent, and that a response ended without an answer. The library would
 * wait for the whole timeout of the call.
 */
export const createServerFetch = (
  egress: Egress,
  { url: own, headers = {} }: HttpSettings,
  onLoginWanted: () => void = () => {},
): Fetch => {
  const { origin } = new URL(own);
  const failedResumes = new WeakMap<CallTrace, number>();

  const loseSoon = (trace: CallTrace) =>
    void setTimeout(() => trace.settled || trace.lose(), readWithinMs).unref();

  const callTool = async (trace: CallTrace, url: string | URL, init: RequestInit): Promise<Response> => {
    const sentBefore = trace.sent;
    // The client library leaves the request of a call that is over in progress: it could be sent later.
    const signal = init.signal ? AbortSignal.any([init.signal, trace.over]) : trace.over;
    const response = await send(egress, url, { ...init, signal }, () => {
      trace.sent = true;
    });
    if (!response.ok) {
      // Redirected or refused: it did not take place.
      if (response.status < 500) trace.sent = sentBefore;
      return response;
    }
    if (!response.body || response.status === 202) {
      loseSoon(trace);
      return response;
    }
    const ids = createIdScanner();
    const onEnd = () => ids.found() || loseSoon(trace);
    return rewrapped(response, watched(response.body, ids.scan, onEnd));
  };

  const resume = async (trace: CallTrace, url: string | URL, init: RequestInit): Promise<Response> => {
    const failed = (permanently: boolean) => {
      const times = (failedResumes.get(trace) ?? 0) + 1;
      failedResumes.set(trace, times);
      if (permanently || times >= maxFailedResumes) loseSoon(trace);
    };
    try {
      const response = await send(egress, url, init);
      if (response.ok) failedResumes.delete(trace);
      else failed(response.status === 405);
      return limited(response);
    } catch (error) {
      failed(false);
      throw error;
    }
  };

  return async (url, init = {}) => {
    const trace = currentCall();
    const sent = new Headers(init.headers);
    if (new URL(url).origin === origin) {
      for (const [name, value] of Object.entries(headers)) if (!sent.has(name)) sent.set(name, value);
    }
    if (trace) sent.set('agent-platform-depth', String(trace.depth + 1));
    const request = { ...init, headers: sent };
    if (trace && isToolCall(init)) return callTool(trace, url, request);
    if (trace && sent.has('last-event-id')) return resume(trace, url, request);
    const response = await send(egress, url, request);
    if (
      response.status === 401 &&
      /\bresource_metadata=/.test(response.headers.get('www-authenticate') ?? '')
    ) {
      onLoginWanted();
    }
    return limited(response);
  };
};
