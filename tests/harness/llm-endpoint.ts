import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listen } from './listen.ts';
import { openAiRefusal } from './providers/strict.ts';

/** A request that the endpoint received. */
export interface ChatRequest {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the wire format as it is
  body: any;
}

/** How it responds: `hang` never does; a string is sent as it is. */
export type Reply = { status?: number; headers?: Record<string, string>; body: unknown } | 'hang';

export interface Endpoint extends AsyncDisposable {
  /** Ends in `/v1`. */
  url: string;
  requests: ChatRequest[];
  /** Resolves when `n` requests have arrived. */
  waitForRequests(n: number): Promise<void>;
  /** Whether the client closed a connection that was left hanging. */
  aborted: boolean;
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

/** A tool call as a completion's `tool_calls` contains it. */
export const wireCall = (id: string, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});

/** An OpenAI-compatible endpoint on 127.0.0.1, a router that refuses what OpenAI refuses. It sends `reply(request, n)`; the first request has the number 0. */
export const startEndpoint = async (
  reply: (request: ChatRequest, n: number) => Reply | Promise<Reply>,
): Promise<Endpoint> => {
  const requests: ChatRequest[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    requests.push({ path: request.url!, headers: request.headers, body });
    for (const notify of waiting.splice(0)) notify();
    const refused: Reply | null = openAiRefusal({ ...requests.at(-1)!, method: 'POST', text: '' });
    const scripted = refused ?? (await reply(requests.at(-1)!, requests.length - 1));
    if (scripted === 'hang') {
      response.on('close', () => {
        endpoint.aborted = true;
      });
      return;
    }
    response.writeHead(scripted.status ?? 200, { 'content-type': 'application/json', ...scripted.headers });
    response.end(typeof scripted.body === 'string' ? scripted.body : JSON.stringify(scripted.body));
  });
  const { origin, close } = await listen(server);
  const endpoint: Endpoint = {
    url: `${origin}/v1`,
    requests,
    aborted: false,
    waitForRequests: async (n) => {
      while (requests.length < n) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    [Symbol.asyncDispose]: close,
  };
  return endpoint;
};
