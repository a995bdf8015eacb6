import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type Listening, listen } from './listen.ts';

interface ReaderRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

interface ReaderResponse {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Null: the response stays open, for the test to end. */
type Answer = (request: ReaderRequest, url: string, outgoing: ServerResponse) => ReaderResponse | null;

/** A server that gets documents over HTTP and answers as a test says. */
export class ReaderServer {
  readonly requests: ReaderRequest[] = [];
  readonly url: string;
  readonly stop: () => Promise<void>;

  private constructor({ origin, close }: Listening) {
    this.url = origin;
    this.stop = close;
  }

  static async start(answer: Answer): Promise<ReaderServer> {
    const server = createServer();
    const reader = new ReaderServer(await listen(server));
    server.on('request', async (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(chunks) };
      reader.requests.push(request);
      const response = answer(request, reader.url, outgoing);
      if (!response) return;
      const { status = 200, headers: sent = {}, body = {} } = response;
      outgoing.writeHead(status, { 'content-type': 'application/json', ...sent }).end(JSON.stringify(body));
    });
    return reader;
  }
}
