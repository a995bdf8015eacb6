import { rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../database/index.ts';
import type { Vault } from '../lib/crypto.ts';
import { type ApiError, badRequest } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { isObject } from '../lib/objects.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import { clientAddress, oneHeader } from './addresses.ts';
import { checkIfMatch, contentTag, etagOf, matchesTag } from './etag.ts';
import { toPartFailure } from './failure.ts';
import {
  checkIdempotencyKey,
  IdempotentReplay,
  parseStored,
  requestHash,
  withIdempotencyKey,
} from './idempotency.ts';
import type { Context, Route } from './route.ts';
import { type FileDownload, sendDownload } from './send-download.ts';
import { qualityOf } from './site.ts';
import { guardedStream, watchAccess } from './stream.ts';
import { isForm, readUpload, type Upload } from './upload.ts';
import { type JsonBody, readForm, readJson, validate } from './validate.ts';

const compress = promisify(gzip);

const readQuery = ({ query, anyQuery }: Route, given: object): unknown => {
  if (!query) return undefined;
  return anyQuery ? query.parse(given) : validate(query, given, 'query');
};

const readBody = async (
  route: Route,
  given: JsonBody | undefined,
  principal: Principal,
): Promise<unknown> => {
  if (!route.body) return undefined;
  if (given === undefined && !route.bodyOptional) {
    throw badRequest(
      route.bodyType === 'form'
        ? 'A form is required, with Content-Type: application/x-www-form-urlencoded.'
        : 'A JSON body is required, with Content-Type: application/json.',
    );
  }
  const { value, storable } = given ?? { value: {}, storable: true };
  if (isObject(value)) await route.checkBody?.(value, principal);
  return validate(route.body, value, 'body', route.badRequestFields, route.partsField, storable);
};

const readRaw = (
  { body, bodyType }: Route,
  bytes: Buffer | undefined,
  headers: IncomingHttpHeaders,
): JsonBody | undefined => {
  if (!body) return undefined;
  const read = bodyType === 'form' ? readForm : readJson;
  return read(bytes, headers['content-type'], headers['content-encoding']);
};

/** What a request says beyond its path. */
interface Given {
  /** The body as it was sent. */
  raw: unknown;
  query: unknown;
  body: unknown;
  ifMatch: string | undefined;
  idempotencyKey: string | undefined;
}

/** Reads and checks it by the schemas of the route, without the form of an upload. */
const readGiven = async (
  route: Route,
  { headers, body: bytes, query: givenQuery }: FastifyRequest,
  principal: Principal,
  isUpload: boolean,
): Promise<Given> => {
  const given = isUpload ? undefined : readRaw(route, bytes as Buffer | undefined, headers);
  const query = readQuery(route, { ...(givenQuery as object) });
  const body = isUpload ? undefined : await readBody(route, given, principal);
  const ifMatch = oneHeader(headers['if-match'], 'If-Match');
  const idempotencyKey = route.idempotent
    ? oneHeader(headers['idempotency-key'], 'Idempotency-Key')
    : undefined;
  if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey);
  return { raw: given?.value, query, body, ifMatch, idempotencyKey };
};

/** The actor of an admitted request. */
export const actorOf = ({ principal, id, ip, headers }: FastifyRequest): Actor => ({
  principal: principal!,
  requestId: id,
  ip: clientAddress(ip),
  userAgent: headers['user-agent'] ?? null,
});

/** What is aborted when the connection of `reply` closes before the response. */
const leftOf = ({ raw }: FastifyReply): AbortController => {
  const left = new AbortController();
  if (raw.closed) left.abort();
  else raw.once('close', () => left.abort());
  return left;
};

/** What serving a request needs, next to its route. */
interface ServeParts {
  db: Database;
  vault: Vault;
  log: Logger;
  /** Aborted when the server stops. */
  stopping: AbortSignal;
  /** Whether the request comes from a page of this server. */
  ownPage: () => boolean;
  /** Takes one request from the bucket of a principal; throws 429. */
  limitRate: (principal: Principal) => void;
  /** Throws 401, 403 or 404 if the caller has lost access. */
  recheck: () => Promise<void>;
}

/** Sends the web Response of a handler. If it is a stream, it is cut off once the caller loses access. */
const sendWeb = async (
  response: Response,
  reply: FastifyReply,
  recheck: () => Promise<void>,
  onLost: () => void,
): Promise<void> => {
  const { status, headers, body } = response;
  reply.code(status).headers(Object.fromEntries(headers)).removeHeader('connection');
  if (body === null) reply.send();
  else if (headers.get('content-type') === 'text/event-stream') {
    reply.send(guardedStream(body, recheck, onLost));
  } else reply.send(Buffer.from(await response.arrayBuffer()));
};

/** What is shorter is sent as soon as it is. */
const compressedFrom = 16_384;

/**
 * Sends JSON, compressed if it is a long answer to the application: a list of 50 schedules has 190 kB, which are 10 kB
 * then, for 1 ms on another thread. Programs get it as it is. No such answer has both a secret and a text that another
 * site could choose, so that its length betrays nothing (BREACH).
 */
const sendJson = async (
  { base }: Route,
  text: string,
  headers: IncomingHttpHeaders,
  reply: FastifyReply,
): Promise<void> => {
  reply.header('content-type', 'application/json; charset=utf-8');
  if (base !== 'app' || text.length < compressedFrom) return void reply.send(text);
  reply.header('vary', 'accept-encoding');
  if (!((qualityOf(oneHeader(headers['accept-encoding'], 'Accept-Encoding'), 'gzip') ?? 0) > 0)) {
    return void reply.send(text);
  }
  reply.header('content-encoding', 'gzip').send(await compress(text, { level: 1 }));
};

/** Sets the ETag of a conditional response. Returns whether the caller has it already. */
const isUnchanged = (
  { conditional }: Route,
  response: unknown,
  headers: IncomingHttpHeaders,
  reply: FastifyReply,
): boolean => {
  if (!conditional) return false;
  const tag = contentTag(conditional === true ? response : conditional(response));
  reply.header('etag', tag);
  return matchesTag(headers['if-none-match'], tag);
};

/**
 * Serves an admitted request: loads what its path names, checks query and body, runs the handler, and sends the result
 * through the response schema, so that no undeclared field is sent. Throws the error that becomes the error body. If the
 * caller loses access while the handler waits, that is a 401, 403 or 404; after that a stream is cut off.
 */
export const serveRoute = async (
  route: Route,
  parts: ServeParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  const params = request.params as Record<string, string>;
  const { headers } = request;
  const actor = actorOf(request);
  const { principal } = actor;
  const find = () => route.find?.({ params, principal });
  const found = route.handlerFinds ? undefined : await find();
  // A route may take JSON instead of the form.
  const isUpload = route.upload !== undefined && (!route.body || isForm(headers['content-type']));
  const { raw, query, body, ifMatch, idempotencyKey } = await readGiven(
    route,
    request,
    principal,
    isUpload,
  ).catch(async (error) => {
    // What the path names comes before what is wrong with the rest.
    if (route.handlerFinds) await find();
    throw error;
  });
  const upload = isUpload ? await readUpload(request.raw, route.upload!) : undefined;
  let etag: string | null = null;
  let status: number = route.status ?? 200;
  let left: AbortController | undefined;
  let lost: ApiError | undefined;
  let endWatch = (): void => {};
  // A handler that asks whether its caller left may wait for long, and the caller may lose access in that time.
  const leaving = (): AbortController => {
    if (left) return left;
    const leave = leftOf(reply);
    endWatch = watchAccess(parts.recheck, (error) => {
      lost = error;
      leave.abort();
    });
    left = leave;
    return leave;
  };
  const context: Context = {
    principal,
    actor,
    headers,
    ownPage: parts.ownPage,
    params,
    method: request.method,
    query,
    body,
    bytes: request.body as Buffer | undefined,
    upload: upload as Upload,
    found,
    ifMatch: (revision) => checkIfMatch(ifMatch, revision),
    etag: (revision) => {
      etag = etagOf(revision);
    },
    limitRate: parts.limitRate,
    accepted: () => {
      status = 202;
    },
    header: (name, value) => void reply.header(name, value),
    get signal() {
      return AbortSignal.any([leaving().signal, parts.stopping]);
    },
    get left() {
      return leaving().signal;
    },
    checkAccess: parts.recheck,
    failureOf: (error) => toPartFailure(parts.log, error, request),
    transaction: (fn) =>
      parts.db.tx((tx) => {
        if (idempotencyKey === undefined) return fn(tx);
        const hash = requestHash(route.id, params, raw);
        const request = { principalId: principal.id, key: idempotencyKey, hash };
        return withIdempotencyKey(
          tx,
          parts.vault,
          request,
          () => fn(tx),
          (body) => ({ status, body, etag }),
        );
      }),
  };
  let result: unknown;
  let isReplay = false;
  try {
    result = await route.handler(context);
  } catch (error) {
    if (!(error instanceof IdempotentReplay)) throw lost ?? error;
    isReplay = true;
    result = error.response.body;
    etag = error.response.etag;
    status = error.response.status ?? status;
    reply.header('idempotency-replayed', 'true');
  } finally {
    endWatch();
    if (upload) await rm(upload.path, { force: true });
  }
  if (lost) throw lost;
  const onLost = (): void => left?.abort();
  if (route.web) return sendWeb(result as Response, reply, parts.recheck, onLost);
  if (route.download) return sendDownload(result as FileDownload, request, reply, parts.recheck);
  if (etag) reply.header('etag', etag);
  reply.code(status);
  if (route.orNothing && result === null) reply.code(204).send();
  else if (route.stream) {
    const chunks = result as AsyncIterable<string | Uint8Array>;
    if (route.saveAs) reply.header('content-disposition', `attachment; filename="${route.saveAs}"`);
    reply.header('content-type', route.stream).send(guardedStream(chunks, parts.recheck, onLost));
  } else if (route.response) {
    const response = isReplay ? parseStored(route.response, result) : route.response.parse(result);
    if (isUnchanged(route, response, headers, reply)) reply.code(304).send();
    else await sendJson(route, JSON.stringify(response), headers, reply);
  } else reply.send();
};
