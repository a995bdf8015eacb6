import { createHash } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { Readable } from 'node:stream';
import {
  createMcpHandler,
  isLegacyRequest,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { listen } from './listen.ts';

type Json = Record<string, unknown>;

/** What happens on the wire instead of an answer to a call. */
export type Wire =
  | 'silence'
  | 'reset'
  /** An event stream that ends without an event, and one whose connection breaks. */
  | 'end'
  | 'cut'
  /** A JSON body that is shorter than its Content-Length. */
  | 'short'
  | 'accepted'
  | 'html'
  | { status: number; headers?: Record<string, string>; body?: string };

/** A tool of the server, as it lists it. */
export interface TestTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: Json;
  outputSchema?: Json;
  annotations?: Json;
  /** The result of a call. Default: the arguments as text. */
  result?: (args: Json, context: ServerContext) => unknown;
  /** What happens on the wire instead, for the call with this number, from 0. */
  wire?: (call: number) => Wire | undefined;
}

interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The method of the JSON-RPC message; null if the body is none. */
  rpc: string | null;
}

export interface TestToolServer extends AsyncDisposable {
  url: string;
  origin: string;
  /** What it lists; a test changes it. */
  tools: TestTool[];
  /** Every request, in order. */
  requests: Received[];
  /** The calls that arrived, in order. */
  calls: { name: string; args: Json; params: Json; headers: IncomingHttpHeaders }[];
  /** How many calls were in progress at once, at most. */
  mostAtOnce: number;
  /** Every request but those to the token endpoint gets this status; null: none. */
  status: number | null;
  /** Requests wait for it before they are answered. */
  gate: Promise<void> | null;
  /** What the server accepts as a bearer; null: everything. */
  bearer: string | null;
  /** The token endpoint gives this token to the client below. */
  token: string;
  count(rpc: string): number;
  /** Answers 404 in every session that it has begun, as after a restart. */
  forgetSessions(): void;
}

export interface TestToolServerOptions {
  /** `legacy`: the revisions with `initialize`; `modern`: 2026-07-28; default: both. */
  era?: 'legacy' | 'modern' | 'both';
  /** The legacy era has sessions. */
  sessions?: boolean;
  tools?: TestTool[];
}

/** The client that the token endpoint knows. */
export const oauthClient = { client_id: 'the client', client_secret: 'client-secret-0123456789' };

/** The hash of a definition by an implementation of RFC 8785 of its own: keys sorted, numbers as JavaScript writes them. */
export const hashOf = (definition: Json): string => {
  const write = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(write)}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const object = value as Json;
    return `{${Object.keys(object)
      .filter((key) => object[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${write(object[key])}`)}}`;
  };
  return createHash('sha256').update(write(definition)).digest('hex');
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const messageOf = (body: string): { method?: string; params?: Json } | null => {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
};

/** The Server of the official package that lists and calls `tools`. */
export const newMcpServer = (tools: () => readonly TestTool[]): Server => {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({
    tools: tools().map(({ result: _, wire: _wire, ...tool }) => ({
      inputSchema: { type: 'object' as const },
      ...tool,
    })) as never,
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools().find(({ name }) => name === params.name);
    if (!tool) throw new Error(`no tool ${params.name}`);
    const args = (params.arguments ?? {}) as Json;
    const result = tool.result ? tool.result(args, context) : JSON.stringify(args);
    const resolved = await result;
    return (
      typeof resolved === 'string' ? { content: [{ type: 'text', text: resolved }] } : resolved
    ) as never;
  });
  return server;
};

const breakWire = (wire: Wire, response: ServerResponse): void => {
  switch (wire) {
    case 'silence':
      return;
    case 'reset':
      response.socket!.resetAndDestroy();
      return;
    case 'end':
    case 'cut':
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': working\n\n');
      if (wire === 'end') response.end();
      else setTimeout(() => response.socket!.resetAndDestroy(), 20);
      return;
    case 'short':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"jsonrpc":');
      setTimeout(() => response.socket!.destroy(), 20);
      return;
    case 'accepted':
      response.writeHead(202).end();
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>It works</p>');
      return;
    default:
      response.writeHead(wire.status, wire.headers).end(wire.body ?? 'a text of the server');
  }
};

/** A real server of the Model Context Protocol on 127.0.0.1, with an authorization server at the same origin. */
export const startToolServer = async (options: TestToolServerOptions = {}): Promise<TestToolServer> => {
  const { era = 'both', sessions = false } = options;
  const callsOf = new Map<string, number>();
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();
  let inProgress = 0;
  const factory = () => newMcpServer(() => server.tools);
  const modern = createMcpHandler(factory as never, { legacy: 'reject' });

  const legacy = async (request: Request, body: unknown): Promise<Response> => {
    const session = request.headers.get('mcp-session-id');
    const known = session === null ? undefined : transports.get(session);
    if (known) return known.handleRequest(request, { parsedBody: body });
    if (session !== null) return new Response('no such session', { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: sessions ? () => crypto.randomUUID() : undefined,
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    });
    await factory().connect(transport);
    return transport.handleRequest(request, { parsedBody: body });
  };

  const authorization: RequestListener = async (request, response) => {
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url!.startsWith('/.well-known/oauth-authorization-server')) {
      return json(200, {
        issuer: server.origin,
        token_endpoint: `${server.origin}/token`,
        authorization_endpoint: `${server.origin}/authorize`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      });
    }
    if (request.url !== '/token') return response.writeHead(404).end();
    const { client_id, client_secret } = oauthClient;
    const basic = Buffer.from(`${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`);
    const given = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64').toString();
    const isKnown = [basic.toString(), `${client_id}:${client_secret}`].includes(given);
    if (!isKnown) return json(401, { error: 'invalid_client' });
    return json(200, { access_token: server.token, token_type: 'Bearer', expires_in: 3600 });
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    const message = messageOf(body);
    const { method = '', url = '' } = request;
    const rpc = message?.method ?? null;
    server.requests.push({ method, path: url, headers: request.headers, rpc });
    if (!url.startsWith('/mcp')) return void authorization(request, response);
    if (server.gate) await server.gate;
    if (server.status !== null) return void response.writeHead(server.status).end('a text of the server');
    if (server.bearer !== null && request.headers.authorization !== `Bearer ${server.bearer}`) {
      return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    }
    const called = rpc === 'tools/call' ? (message!.params!.name as string) : null;
    if (called !== null) {
      const number = callsOf.get(called) ?? 0;
      callsOf.set(called, number + 1);
      const args = (message!.params!.arguments ?? {}) as Json;
      server.calls.push({ name: called, args, params: message!.params!, headers: request.headers });
      const wire = server.tools.find(({ name }) => name === called)?.wire?.(number);
      if (wire) return breakWire(wire, response);
    }
    const abort = new AbortController();
    response.on('close', () => abort.abort());
    const web = new Request(server.origin + url, {
      method,
      headers: new Headers(request.headers as Record<string, string>),
      ...(body === '' ? {} : { body }),
      signal: abort.signal,
    });
    const parsed: unknown = message ?? undefined;
    const isLegacy = era === 'legacy' || (era === 'both' && (await isLegacyRequest(web.clone(), parsed)));
    inProgress += called === null ? 0 : 1;
    server.mostAtOnce = Math.max(server.mostAtOnce, inProgress);
    const answer = isLegacy ? await legacy(web, parsed) : await modern.fetch(web, { parsedBody: parsed });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    // Without this the client would wait for the first event to get the headers.
    response.flushHeaders();
    try {
      if (answer.body)
        for await (const chunk of Readable.fromWeb(answer.body as never)) response.write(chunk);
    } catch {
      // The client has gone.
    }
    inProgress -= called === null ? 0 : 1;
    response.end();
  };

  const http = createServer((request, response) => void serve(request, response));
  const { origin, close } = await listen(http);
  const server: TestToolServer = {
    origin,
    url: `${origin}/mcp`,
    tools: options.tools ?? [{ name: 'echo', description: 'Says it again.' }],
    requests: [],
    calls: [],
    mostAtOnce: 0,
    status: null,
    gate: null,
    bearer: null,
    token: 'access-token-0123456789',
    count: (rpc) => server.requests.filter((request) => request.rpc === rpc).length,
    forgetSessions: () => transports.clear(),
    [Symbol.asyncDispose]: async () => {
      await modern.close();
      await close();
    },
  };
  return server;
};
