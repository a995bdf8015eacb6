import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { listen } from './listen.ts';
import { revisions } from './tool-protocol.ts';

const refused = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32000, message: 'Bad Request: Unsupported protocol version' },
};

/**
 * A proxy on 127.0.0.1 before a server of the Model Context Protocol that makes it one of the legacy era: it refuses the
 * modern revision as such a server does.
 */
export const startLegacyProxy = async (target: string): Promise<{ url: string } & AsyncDisposable> => {
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.headers['mcp-protocol-version'] === revisions.modern) {
      request.resume();
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refused));
      return;
    }
    const {
      host: _,
      connection: _c,
      'content-length': _l,
      'transfer-encoding': _t,
      ...headers
    } = request.headers;
    const left = new AbortController();
    response.on('close', () => left.abort());
    const body = request.method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' as const } : {};
    const got = await fetch(target, {
      method: request.method!,
      headers: headers as Record<string, string>,
      ...body,
      signal: left.signal,
    });
    response.writeHead(got.status, Object.fromEntries(got.headers));
    response.flushHeaders();
    for await (const chunk of got.body ?? []) response.write(chunk);
    response.end();
  };
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy());
  });
  const { origin, close } = await listen(server);
  return {
    url: `${origin}/mcp`,
    [Symbol.asyncDispose]: close,
  };
};
