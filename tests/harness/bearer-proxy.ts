import { createServer, request } from 'node:http';
import { listen } from './listen.ts';

/** A proxy on 127.0.0.1 that adds a key to every request, for clients that have no option for headers. */
export const startBearerProxy = async (
  target: string,
  key: string,
): Promise<{ url: string } & AsyncDisposable> => {
  const { hostname, port, pathname } = new URL(target);
  const server = createServer((incoming, response) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${key}` };
    const sent = request({ hostname, port, path: pathname, method: incoming.method, headers }, (got) => {
      response.writeHead(got.statusCode!, got.headers);
      response.flushHeaders();
      got.pipe(response);
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  const { origin, close } = await listen(server);
  return {
    url: `${origin}/mcp`,
    [Symbol.asyncDispose]: close,
  };
};
