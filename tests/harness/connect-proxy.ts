import { once } from 'node:events';
import {
  createServer,
  request as forward,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen } from './listen.ts';

/** A host and a port of this machine. */
interface Target {
  host: string;
  port: number;
}

export interface ProxyOptions {
  /** `user:password`; without it the proxy lets everyone in. */
  credentials?: string;
  /** Names that only the proxy knows: where they lead. Their ports stay if 0. */
  names?: Record<string, Target>;
  /** The ports that tunnels may lead to, as Squid's `SSL_ports`. Default 443. */
  tunnelPorts?: readonly number[];
  /** The hosts that it refuses, with 403. */
  refused?: readonly string[];
  /** TLS to the proxy itself. */
  tls?: { key: string; cert: string };
}

export interface ConnectProxy extends AsyncDisposable {
  /** Without credentials. */
  url: string;
  port: number;
  /** `CONNECT host:port` and `GET http://host/path`, in order, those that were refused too. */
  requests: string[];
  /** How many connections were made to it. */
  connections: number;
  /** What was not as it must be in what it was sent. */
  faults: string[];
}

const hopByHop = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'upgrade'];

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)));

/**
 * An HTTP proxy as companies run them. It is strict: tunnels lead to few ports, requests without TLS come in absolute form
 * with the Host of their target, and credentials are never passed on.
 */
export const startConnectProxy = async (options: ProxyOptions = {}): Promise<ConnectProxy> => {
  const { credentials, names = {}, tunnelPorts = [443], refused = [], tls } = options;
  const requests: string[] = [];
  const faults: string[] = [];
  const sockets = new Set<Duplex>();
  const expected = credentials === undefined ? null : `Basic ${Buffer.from(credentials).toString('base64')}`;

  const mayUse = ({ headers }: IncomingMessage): boolean =>
    expected === null || headers['proxy-authorization'] === expected;
  /** Null: the name is unknown. */
  const targetOf = ({ hostname, port }: URL, standard: number): Target | null => {
    const number = Number(port || standard);
    const own = names[hostname];
    if (own) return { host: own.host, port: own.port || number };
    return /^[\d.]+$|^\[/.test(hostname) ? { host: hostname.replace(/^\[|\]$/g, ''), port: number } : null;
  };

  const respond = (response: ServerResponse, status: number, headers: Record<string, string> = {}) =>
    response.writeHead(status, headers).end(`proxy: ${status}`);

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const line = request.url ?? '';
    requests.push(`${request.method} ${line}`);
    if (!/^http:\/\/[^/]/.test(line)) {
      faults.push(`not in absolute form: ${line}`);
      respond(response, 400);
      return;
    }
    const url = new URL(line);
    if (request.headers.host !== url.host) {
      faults.push(`Host ${request.headers.host} for ${url.host}`);
      respond(response, 400);
      return;
    }
    if (!mayUse(request)) {
      respond(response, 407, { 'proxy-authenticate': 'Basic realm="proxy"' });
      return;
    }
    const target = targetOf(url, 80);
    if (refused.includes(url.hostname) || !target) {
      respond(response, target ? 403 : 503);
      return;
    }
    const { method } = request;
    const headers = endToEnd(request.headers);
    const sent = forward({ ...target, method, path: url.pathname + url.search, headers, agent: false });
    sent.on('response', (got) => {
      response.writeHead(got.statusCode!, { ...endToEnd(got.headers), via: '1.1 proxy' });
      got.pipe(response);
    });
    sent.on('error', () => (response.headersSent ? response.destroy() : respond(response, 502)));
    response.on('close', () => sent.destroy());
    request.pipe(sent);
  };

  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  const proxy = { requests, faults, connections: 0 };
  server.on('connection', () => proxy.connections++);
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    sockets.add(client);
    client.on('error', () => {}).on('close', () => sockets.delete(client));
    const authority = request.url ?? '';
    requests.push(`CONNECT ${authority}`);
    const refuse = (status: number, more = '') =>
      client.end(`HTTP/1.1 ${status} Refused\r\n${more}Content-Length: 5\r\nConnection: close\r\n\r\nproxy`);
    if (!/^(?:[^:/@]+|\[[^\]]+\]):\d+$/.test(authority) || request.headers.host !== authority) {
      faults.push(`CONNECT ${authority}, Host ${request.headers.host}`);
      return refuse(400);
    }
    if (!mayUse(request)) return refuse(407, 'Proxy-Authenticate: Basic realm="proxy"\r\n');
    const url = new URL(`https://${authority}`);
    const target = targetOf(url, 443);
    if (refused.includes(url.hostname)) return refuse(403);
    if (!tunnelPorts.includes(Number(url.port || 443))) {
      faults.push(`a tunnel to the port ${url.port || 443}`);
      return refuse(403);
    }
    if (!target) return refuse(503);
    const upstream: Socket = connect(target);
    sockets.add(upstream);
    upstream.on('close', () => sockets.delete(upstream));
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => (upstream.connecting ? refuse(502) : client.destroy()));
    client.on('close', () => upstream.destroy());
  });
  const { origin, port, close } = await listen(server as never);
  return Object.assign(proxy, {
    url: tls ? origin.replace('http:', 'https:') : origin,
    port,
    [Symbol.asyncDispose]: async () => {
      const closed = Promise.all([...sockets].map((socket) => socket.destroyed || once(socket, 'close')));
      for (const socket of sockets) socket.destroy();
      await closed;
      await close();
    },
  });
};
