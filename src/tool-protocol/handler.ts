import type { IncomingHttpHeaders } from 'node:http';
import {
  createMcpHandler,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/**
 * The revisions of the protocol: `legacy` are those with `initialize`, up to 2025-11-25; `modern` is 2026-07-28, without a
 * handshake.
 */
export type Era = 'legacy' | 'modern';

export interface Serving {
  era: Era;
  /** True if the caller takes an event stream. If not, nothing may be sent before the result. */
  takesEvents: boolean;
}

/** A POST whose body was read. */
interface ProtocolRequest {
  headers: IncomingHttpHeaders;
  body: unknown;
  /** Aborted when the client leaves. */
  left: AbortSignal;
  /** Aborted when the server stops as well: then a subscription ends. */
  signal: AbortSignal;
}

export interface ProtocolHandler<C> {
  /** Resolves to the response; `context` is what the factory gets. */
  serve(request: ProtocolRequest, context: C): Promise<Response>;
  close(): Promise<void>;
}

const json = 'application/json; charset=utf-8';

/** The response with a JSON-RPC error that belongs to no message. */
export const rpcError = (
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response =>
  Response.json(
    { jsonrpc: '2.0', error: { code, message }, id: null },
    { status, headers: { ...headers, 'content-type': json } },
  );

/** JSON-RPC 2.0, section 5.1. */
export const rpcCodes = { parseError: -32700, invalidRequest: -32600, methodNotAllowed: -32000 } as const;

const isMessage = (value: unknown): boolean =>
  isJSONRPCRequest(value) ||
  isJSONRPCNotification(value) ||
  isJSONRPCResultResponse(value) ||
  isJSONRPCErrorResponse(value);

/**
 * Returns the parts of the request that the protocol needs, without credentials. The library refuses a request that
 * does not accept both types with 406, a notification too, so it always sees both; what the caller accepts decides how
 * the request is served.
 */
const toWebRequest = ({ headers, body, left, signal }: ProtocolRequest): Request => {
  const web = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  });
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith('mcp-') && value !== undefined) web.set(name, String(value));
  }
  const subscribes = (body as { method?: unknown } | null)?.method === 'subscriptions/listen';
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: web,
    signal: subscribes ? signal : left,
  });
};

/**
 * Makes a handler of the Model Context Protocol over streamable HTTP: both eras at one address, without sessions, with a
 * new server of `factory` for each request.
 */
export const createProtocolHandler = <C>(
  factory: (context: C, serving: Serving) => Server,
): ProtocolHandler<C> => {
  const servers = new WeakMap<Request, Server>();
  const modern = (responseMode: 'auto' | 'sse'): McpHttpHandler =>
    createMcpHandler(({ requestInfo }) => servers.get(requestInfo!)!, { legacy: 'reject', responseMode });
  const handlers = { auto: modern('auto'), sse: modern('sse') };

  const respond = async (request: ProtocolRequest, context: C): Promise<Response> => {
    const { headers, body: parsedBody } = request;
    if (Array.isArray(parsedBody) && !parsedBody.every(isMessage)) {
      return rpcError(400, rpcCodes.invalidRequest, 'The array has an item that is not a JSON-RPC message.');
    }
    const accept = headers.accept ?? '*/*';
    const takesEvents = accept.includes('text/event-stream');
    const web = toWebRequest(request);
    if (await isLegacyRequest(web, parsedBody)) {
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !takesEvents });
      await factory(context, { era: 'legacy', takesEvents }).connect(transport);
      return transport.handleRequest(web, { parsedBody });
    }
    servers.set(web, factory(context, { era: 'modern', takesEvents }));
    const onlyEvents = takesEvents && !/application\/(json|\*)|\*\/\*/.test(accept);
    return handlers[onlyEvents ? 'sse' : 'auto'].fetch(web, { parsedBody });
  };

  return {
    serve: async (request, context) => {
      const response = await respond(request, context);
      if (response.headers.get('content-type')?.startsWith('application/json')) {
        response.headers.set('content-type', json);
      }
      return response;
    },
    close: async () => {
      await Promise.all(Object.values(handlers).map((handler) => handler.close()));
    },
  };
};
