import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Tx } from '../database/index.ts';
import type { ApiError } from '../lib/errors.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import { clientAddress } from './addresses.ts';
import type { Call } from './route.ts';
import { watchAccess } from './stream.ts';

/** The part of a request that handlers of every kind get. Type parameters: what `find` loaded, the parsed query. */
export interface Context<F = unknown, Q = unknown> {
  principal: Principal;
  /** The principal and the request, for the audit log. */
  actor: Actor;
  headers: IncomingHttpHeaders;
  /** The decoded parameters of the path. */
  params: Record<string, string>;
  query: Q;
  found: F;
  /** Runs `fn` in the one transaction of a request that changes something. */
  transaction<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Aborted when the client leaves before the end of the response, or has lost access. */
  left: AbortSignal;
  /** The same, and aborted when the server stops: for handlers that wait. */
  signal: AbortSignal;
}

/** The part of a request that is checked before its role. */
export interface CallerRequest {
  headers: IncomingHttpHeaders;
  /** Returns whether the request comes from a page of this server (`isOwnPage`). */
  ownPage(): boolean;
}

/** Sets a header of the response; a list sets it several times. */
export type SetHeader = (name: string, value: string | string[]) => void;

export const actorOf = ({ principal, id, ip, headers }: FastifyRequest): Actor => ({
  principal: principal!,
  requestId: id,
  ip: clientAddress(ip),
  userAgent: headers['user-agent'] ?? null,
});

/** Returns what is aborted when the connection of `reply` closes before the response. */
const leftOf = ({ raw }: FastifyReply): AbortController => {
  const left = new AbortController();
  if (raw.closed) left.abort();
  else raw.once('close', () => left.abort());
  return left;
};

/**
 * What handlers of every kind share. A class, not an object with getters: each such object has a hidden class of its own
 * in the engine, which keeps all that the request made until the whole heap is collected (6 kB and 40 µs a request).
 */
class SharedContext {
  readonly actor: Actor;
  readonly principal: Principal;
  readonly headers: IncomingHttpHeaders;
  readonly params: Record<string, string>;
  readonly found: unknown;
  readonly query: unknown;
  readonly transaction: <T>(fn: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly #leaving: () => AbortSignal;
  readonly #stopping: AbortSignal;

  constructor(
    { request, db, stopping }: Call,
    { found, query }: { found: unknown; query: unknown },
    leaving: () => AbortSignal,
  ) {
    this.actor = actorOf(request);
    this.principal = this.actor.principal;
    this.headers = request.headers;
    this.params = request.params as Record<string, string>;
    this.found = found;
    this.query = query;
    this.transaction = (fn) => db.tx(fn);
    this.#leaving = leaving;
    this.#stopping = stopping;
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.#leaving(), this.#stopping]);
  }

  get left(): AbortSignal {
    return this.#leaving();
  }
}

/**
 * Runs the handler of a route. A handler that asks for a signal may wait for long, so from then on access is checked: if
 * the caller loses it, the signal is aborted, and this throws the 401, 403 or 404. `stop` aborts the signals of a stream
 * that goes on after the handler.
 */
export const runHandler = async <C extends Context, R>(
  call: Call,
  given: { found: unknown; query: unknown },
  own: Omit<C, keyof Context> & Partial<Pick<C, 'transaction'>>,
  handler: (context: C) => Promise<R>,
): Promise<{ result: R; stop: () => void }> => {
  const { reply, recheck } = call;
  let left: AbortController | undefined;
  let lost: ApiError | undefined;
  let endWatch = (): void => {};
  const leaving = (): AbortSignal => {
    if (!left) {
      const leave = leftOf(reply);
      endWatch = watchAccess(recheck, (error) => {
        lost = error;
        leave.abort();
      });
      left = leave;
    }
    return left.signal;
  };
  try {
    const shared = new SharedContext(call, given, leaving);
    // Not a spread: it would lose the signals.
    const result = await handler(Object.assign(shared, own) as unknown as C);
    if (lost) throw lost;
    return { result, stop: () => left?.abort() };
  } catch (error) {
    throw lost ?? error;
  } finally {
    endWatch();
  }
};
