import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the endpoint was sent. */
export interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the wire format as it is
  body: any;
}

/** How it answers: `hang` never does; a string is sent as it is. */
export type Reply = { status?: number; headers?: Record<string, string>; body: unknown } | 'hang';

export interface Endpoint extends AsyncDisposable {
  /** Ends in `/v1`. */
  url: string;
  asked: Asked[];
  /** Resolves once `n` requests have come. */
  heard(n: number): Promise<void>;
  /** Whether the client hung up on a request that was left hanging. */
  hungUp: boolean;
}

/** A chat completion of OpenAI's wire format. */
export const completion = (message: Record<string, unknown>, finish = 'stop') => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_767_225_600,
  model: 'model-1-2026-01-01',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }],
  usage: { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 },
});

/** A tool call as it stands in a completion's `tool_calls`. */
export const wireCall = (id: string, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});

/** An OpenAI-compatible endpoint on 127.0.0.1 that gives `reply` of each request, the first numbered 0. */
export const startEndpoint = async (
  reply: (asked: Asked, n: number) => Reply | Promise<Reply>,
): Promise<Endpoint> => {
  const asked: Asked[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    asked.push({ path: request.url!, headers: request.headers, body });
    for (const tell of waiting.splice(0)) tell();
    const answer = await reply(asked.at(-1)!, asked.length - 1);
    if (answer === 'hang') {
      response.on('close', () => {
        endpoint.hungUp = true;
      });
      return;
    }
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    hungUp: false,
    heard: async (n) => {
      while (asked.length < n) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return endpoint;
};
