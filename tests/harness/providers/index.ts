import { createServer, type ServerResponse } from 'node:http';
import { listen } from '../listen.ts';
import { anthropic } from './anthropic.ts';
import { bedrock } from './bedrock.ts';
import { chatCompletions } from './chat-completions.ts';
import { google } from './google.ts';
import type { Protocol, ProviderRequest, Turn } from './protocol.ts';
import { responses } from './responses.ts';

export type { Protocol, ProviderRequest, Turn } from './protocol.ts';
export { servers } from './strict.ts';

const bearer = 'sk-0123456789-abcdef';
const azureKey = 'az-0123456789-abcdef';

const byBearer = (path: string) => (request: ProviderRequest) =>
  request.headers.authorization === `Bearer ${bearer}` && request.path === path;
const byApiKey = (path: string) => (request: ProviderRequest) =>
  request.headers['api-key'] === azureKey &&
  request.headers.authorization === undefined &&
  request.path === path;

const openAi = { basePath: '/v1', model: 'gpt-5', secrets: [bearer] };
const azure = { kind: 'azure', basePath: '/openai', model: 'prod-deployment', secrets: [azureKey] };

/** Every kind, and every protocol that it speaks. */
export const protocols: Record<string, Protocol> = {
  openai_compatible: {
    ...chatCompletions,
    ...openAi,
    kind: 'openai_compatible',
    model: 'open-model-1',
    settings: { api_key: bearer },
    isAuthorized: byBearer('/v1/chat/completions'),
  },
  'openai, responses': {
    ...responses,
    ...openAi,
    kind: 'openai',
    settings: { api_key: bearer },
    isAuthorized: byBearer('/v1/responses'),
  },
  'openai, chat completions': {
    ...chatCompletions,
    ...openAi,
    kind: 'openai',
    settings: { api_key: bearer, api: 'chat_completions' },
    isAuthorized: byBearer('/v1/chat/completions'),
  },
  anthropic,
  'azure, responses': {
    ...responses,
    ...azure,
    settings: { api_key: azureKey },
    isAuthorized: byApiKey('/openai/v1/responses?api-version=v1'),
  },
  'azure, chat completions by deployment': {
    ...chatCompletions,
    ...azure,
    settings: {
      api_key: azureKey,
      api: 'chat_completions',
      deployment_urls: true,
      api_version: '2024-10-21',
    },
    isAuthorized: byApiKey('/openai/deployments/prod-deployment/chat/completions?api-version=2024-10-21'),
  },
  google,
  bedrock,
};

/**
 * How a fake provider replies. `status`: an error response, with the protocol's body unless `body` is given. `hang`: no
 * response. `silent`: a stream that stops after its first token; `cut`: the connection is closed there; `ended`: the
 * stream ends there; `error`: the provider reports an error there. `html`: a page of a proxy, with status 200.
 */
export type Reply =
  | Turn
  | { status: number; headers?: Record<string, string>; message?: string; body?: unknown }
  | { fail: 'hang' | 'silent' | 'cut' | 'ended' | 'error' | 'html' | 'huge' | 'too_long' };

export interface FakeProvider extends AsyncDisposable {
  /** `base_url` of a configuration. */
  url: string;
  origin: string;
  requests: ProviderRequest[];
  /** Requests whose connection the client closed before the response was complete. */
  aborted: number;
}

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The first chunk that has a token of the reply is among the first half of the chunks. */
const begin = (protocol: Protocol, response: ServerResponse) => {
  const chunks = protocol.stream({ text: 'Once upon a time there was a model that broke off.' });
  response.writeHead(200, { 'content-type': protocol.streamType });
  for (const chunk of chunks.slice(0, Math.ceil(chunks.length / 2))) response.write(chunk);
};

const huge = 17 * 1024 * 1024;

const fail = async (
  protocol: Protocol,
  response: ServerResponse,
  how: Extract<Reply, { fail: unknown }>['fail'],
  streamed: boolean,
): Promise<void> => {
  if (how === 'hang') return;
  if (how === 'html') {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Sign in</body></html>');
    return;
  }
  if (how === 'huge') {
    response.writeHead(200, { 'content-type': streamed ? protocol.streamType : 'application/json' });
    const piece = streamed
      ? Buffer.concat(protocol.stream({ text: 'x'.repeat(1024 * 1024) }).slice(0, -1))
      : Buffer.from(`${' '.repeat(1024 * 1024)}`);
    const drained: (() => void)[] = [];
    const resume = () => drained.splice(0).forEach((resolve) => void resolve());
    response.on('drain', resume).on('close', resume);
    for (let sent = 0; sent < huge && !response.destroyed; sent += piece.length) {
      if (!response.write(piece)) await new Promise<void>((resolve) => drained.push(resolve));
    }
    response.end();
    return;
  }
  if (how === 'too_long') {
    const { status, body } = protocol.tooLong;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return;
  }
  if (streamed) begin(protocol, response);
  else {
    const text = JSON.stringify(protocol.whole({ text: 'A reply' }));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    response.write(text.slice(0, 10));
  }
  // What was written arrives before what follows.
  await new Promise((resolve) => setTimeout(resolve, 30));
  if (how === 'cut') response.destroy();
  if (how === 'ended') response.end();
  if (how === 'error') response.end(protocol.streamError());
};

/**
 * A provider on 127.0.0.1 that replies `reply(request, n)`; the first request has the number 0. It refuses what the real
 * one refuses.
 */
export const startProvider = async (
  protocol: Protocol,
  reply: (request: ProviderRequest, n: number) => Reply | Promise<Reply>,
): Promise<FakeProvider> => {
  const requests: ProviderRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { url: path, headers, method } = incoming;
    const request = { method: method!, path: path!, headers, text, body: JSON.parse(text || 'null') };
    requests.push(request);
    response.on('close', () => {
      if (!response.writableFinished) provider.aborted++;
    });
    if (!protocol.isAuthorized(request)) {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(protocol.error(401, 'The key or the address is wrong.')));
      return;
    }
    const refusal = protocol.refuses(request);
    if (refusal) {
      response.writeHead(refusal.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(refusal.body));
      return;
    }
    const scripted = await reply(request, requests.length - 1);
    const streamed = protocol.isStream(request);
    if ('fail' in scripted) return fail(protocol, response, scripted.fail, streamed);
    if ('status' in scripted) {
      const body = scripted.body ?? protocol.error(scripted.status, scripted.message ?? 'refused');
      response.writeHead(scripted.status, { 'content-type': 'application/json', ...scripted.headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
      return;
    }
    if (!streamed) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(protocol.whole(scripted)));
      return;
    }
    response.writeHead(200, { 'content-type': protocol.streamType });
    for (const chunk of protocol.stream(scripted)) {
      response.write(chunk);
      await pause();
    }
    response.end();
  });
  const { origin, close } = await listen(server);
  const provider: FakeProvider = {
    url: origin + protocol.basePath,
    origin,
    requests,
    aborted: 0,
    [Symbol.asyncDispose]: close,
  };
  return provider;
};
