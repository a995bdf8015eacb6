import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listen } from './listen.ts';

/** A request that the receiver got. */
export interface ReceivedCallback {
  path: string;
  headers: IncomingHttpHeaders;
  /** As it arrived. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the body field by field
  body: any;
}

type Answer = number | { status: number; headers: Record<string, string> } | 'hang';

export interface CallbackReceiver extends AsyncDisposable {
  /** Without a path: `http://127.0.0.1:PORT`. */
  url: string;
  requests: ReceivedCallback[];
  /** What it responds with from now on; 204 at first. */
  respondWith(answer: Answer | ((request: ReceivedCallback) => Answer)): void;
  /** Those of one Work Item, in the order of their arrival. */
  of(workItemId: string): ReceivedCallback[];
}

/** An HTTP server on 127.0.0.1 that keeps what it gets. */
export const startCallbackReceiver = async (): Promise<CallbackReceiver> => {
  const requests: ReceivedCallback[] = [];
  let answer: (request: ReceivedCallback) => Answer = () => 204;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const received = { path: request.url!, headers: request.headers, text, body: JSON.parse(text) };
    requests.push(received);
    const now = answer(received);
    if (now === 'hang') return;
    const { status, headers } = typeof now === 'number' ? { status: now, headers: {} } : now;
    response.writeHead(status, headers).end();
  });
  const { origin, close } = await listen(server);
  return {
    url: origin,
    requests,
    respondWith: (next) => {
      answer = typeof next === 'function' ? next : () => next;
    },
    of: (id) => requests.filter(({ body }) => body.data.work_item_id === id),
    [Symbol.asyncDispose]: close,
  };
};
