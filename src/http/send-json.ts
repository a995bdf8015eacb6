import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { oneHeader } from './addresses.ts';
import { contentTag, matchesTag } from './etag.ts';
import type { Call, Operation } from './route.ts';
import { qualityOf } from './site.ts';

/** The response of a JSON route: its schema, by its status unless that is 200. With 200 and 202 the handler chooses. */
export type Responses<A extends z.ZodType> = A | { 201: A } | { 200: A; 202: A };

/** Returns the status of success, and the schema of the response unless it has no body. */
export const responseOf = (
  responses: Responses<z.ZodType> | undefined,
): { status: number; schema?: z.ZodType; mayAccept?: boolean } => {
  if (responses === undefined) return { status: 204 };
  if (responses instanceof z.ZodType) return { status: 200, schema: responses };
  if (201 in responses) return { status: 201, schema: responses[201] };
  return { status: 200, schema: responses[200], mayAccept: true };
};

const compress = promisify(gzip);

/** The least characters of a text that is compressed. */
const compressedFrom = 16_384;

/**
 * Sends JSON, compressed if it is a long answer to the application: a list of 50 schedules has 190 kB, which are 10 kB
 * then, for 1 ms on another thread. Programs get it as it is, except from a `compressed` route. No such answer has both a
 * secret and a text that another site could choose, so that its length betrays nothing (BREACH).
 */
export const sendJson = async (
  { base, compressed }: Pick<Operation, 'base'> & { compressed?: true },
  response: unknown,
  { request, reply }: Pick<Call, 'request' | 'reply'>,
): Promise<void> => {
  const text = JSON.stringify(response);
  reply.header('content-type', 'application/json; charset=utf-8');
  if (!(base === 'app' || compressed) || text.length < compressedFrom) return void reply.send(text);
  reply.header('vary', 'accept-encoding');
  const accepted = oneHeader(request.headers['accept-encoding'], 'Accept-Encoding');
  if (!((qualityOf(accepted, 'gzip') ?? 0) > 0)) return void reply.send(text);
  reply.header('content-encoding', 'gzip').send(await compress(text, { level: 1 }));
};

/** Sets the ETag of `content`. Returns whether the client has that version already. */
export const isUnchanged = (content: unknown, { request, reply }: Call): boolean => {
  const tag = contentTag(content);
  reply.header('etag', tag);
  return matchesTag(request.headers['if-none-match'], tag);
};
