import { Readable } from 'node:stream';
import type { z } from 'zod';
import { type Context, runHandler } from './context.ts';
import { anyContent, downloadHeaders } from './download.ts';
import { matchesTag } from './etag.ts';
import { findFor, readQuery } from './given.ts';
import {
  contentEtag,
  describeOperation,
  ifNoneMatchParameter,
  notModified,
  queryParameters,
} from './operation-document.ts';
import { type Call, type Find, type Operation, type Route, routeOf } from './route.ts';
import { watchAccess } from './stream.ts';

/** Bytes to be saved as a file. */
export interface FileDownload {
  name: string;
  contentType: string;
  /** In bytes; null: not known yet. */
  size: number | null;
  /** The ETag: a hash of the bytes. */
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
const sendDownload = (
  { name, contentType, size, tag, bytes, close = async () => {} }: FileDownload,
  { request: { headers, method }, reply, recheck }: Call,
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

/** An operation whose response is a file. */
interface DownloadOperation<F, Q extends z.ZodType> extends Operation {
  find?: Find<F>;
  query?: Q;
  handler: (context: Context<F, z.output<Q>>) => Promise<FileDownload>;
}

export const downloadRoute = <F = undefined, Q extends z.ZodType = z.ZodType<undefined>>(
  operation: DownloadOperation<F, Q>,
): Route => {
  const { find, query, handler } = operation;
  return routeOf(operation, {
    ...(find && { find }),
    serve: async (call) => {
      const found = await findFor(find, call.request);
      const given = { found, query: readQuery(query, call.request) };
      const { result } = await runHandler<Context<F, z.output<Q>>, FileDownload>(call, given, {}, handler);
      sendDownload(result, call);
    },
    describe: (components, tags) =>
      describeOperation(operation, tags, {
        query: queryParameters(query, components),
        headers: [ifNoneMatchParameter],
        success: {
          200: { description: 'Success.', ...contentEtag, ...anyContent },
          304: notModified('The client has the content already.'),
        },
        failures: query ? [422] : [],
      }),
  });
};
