import { createServer, request } from 'node:http';
import { listen } from './listen.ts';

/**
 * What happens to a request: it is forwarded; it is refused with a status, and seen by no one; it is forwarded, but the
 * connection ends before the response; or the response is cut behind the first event of a stream that contains `text`.
 */
export type Fault =
  | 'pass'
  | 'lose the response'
  | { status: number; retryAfter?: string }
  | { cutBehind: string };

export interface FaultyProxy extends AsyncDisposable {
  origin: string;
  /** What happens to the next requests, one each; then they pass. */
  faults: Fault[];
  /** Method, path and headers of what came. */
  seen: { method: string; url: string; headers: Record<string, unknown> }[];
}

/** A proxy on 127.0.0.1 that fails as a network does. */
export const startFaultyProxy = async (target: string): Promise<FaultyProxy> => {
  const { hostname, port } = new URL(target);
  const faults: Fault[] = [];
  const seen: FaultyProxy['seen'] = [];
  const server = createServer((incoming, response) => {
    const fault = faults.shift() ?? 'pass';
    const { method = '', url: path = '', headers } = incoming;
    seen.push({ method, url: path, headers });
    if (typeof fault === 'object' && 'status' in fault) {
      incoming.resume();
      response.writeHead(fault.status, fault.retryAfter ? { 'retry-after': fault.retryAfter } : {});
      response.end('<h1>Bad gateway</h1>');
      return;
    }
    const sent = request({ hostname, port, path, method, headers }, (got) => {
      if (fault === 'lose the response') {
        got.resume().on('end', () => response.destroy());
        return;
      }
      response.writeHead(got.statusCode!, got.headers);
      response.flushHeaders();
      if (fault === 'pass') return got.pipe(response);
      let text = '';
      got.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const at = text.indexOf(fault.cutBehind);
        const end = at < 0 ? -1 : text.indexOf('\n\n', at);
        if (end < 0) response.write(chunk);
        else
          response.write(chunk.subarray(0, chunk.length - (text.length - end - 2)), () => response.destroy());
      });
      got.on('end', () => response.end());
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  const { origin, close } = await listen(server);
  return { origin, faults, seen, [Symbol.asyncDispose]: close };
};
