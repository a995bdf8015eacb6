import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { downloadHeaders } from './download.ts';
import { matchesTag } from './etag.ts';
import { watchAccess } from './stream.ts';

/** Bytes to be saved as a file. */
export interface FileDownload {
  name: string;
  contentType: string;
  /** In bytes; null: not known yet. */
  size: number | null;
  /** What the ETag is: a hash of the bytes. */
  tag: string;
  /** Read when the response is sent, and only then. */
  bytes: () => AsyncIterable<Uint8Array>;
  /** Called once when the bytes are sent, or will not be read. */
  close?: () => Promise<unknown>;
}

/** A name in a header (RFC 8187). `encodeURIComponent` leaves some characters that are not allowed there. */
const encodedName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Sends the bytes, or 304 if the client has them. What is sent ends early when the caller loses access. */
export const sendDownload = (
  { name, contentType, size, tag, bytes, close = async () => {} }: FileDownload,
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
  recheck: () => Promise<void>,
): void => {
  const etag = `"${tag}"`;
  reply.headers({ ...downloadHeaders, 'cache-control': 'private, no-store', etag });
  if (matchesTag(headers['if-none-match'], etag)) {
    reply.code(304).send();
    void close();
    return;
  }
  reply.headers({
    'content-type': contentType,
    ...(size === null ? {} : { 'content-length': String(size) }),
    'content-disposition': `attachment; filename*=UTF-8''${encodedName(name)}`,
  });
  if (method === 'HEAD') {
    // Without any payload Fastify would say that the length is 0.
    reply.send(Readable.from([]));
    void close();
    return;
  }
  const stream = Readable.from(bytes(), { objectMode: false });
  const endWatch = watchAccess(recheck, (error) => void stream.destroy(error));
  stream.once('close', () => {
    endWatch();
    void close();
  });
  reply.send(stream);
};
