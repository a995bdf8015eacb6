import type { Readable } from 'node:stream';

export interface ReceiveRequest {
  contentType: string | undefined;
  contentEncoding: string | undefined;
  /** The body as it came over the wire (still encoded). A stream is read up to the limit, then destroyed. */
  body: Buffer | Readable;
}

export interface ReceiveAnswer {
  status: number;
  contentType: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** OTLP/HTTP for traces. */
export interface Receiver {
  /** Never rejects; 200 only when everything accepted is durable. */
  receive(request: ReceiveRequest): Promise<ReceiveAnswer>;
}
