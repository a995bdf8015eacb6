import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../lib/errors.ts';
import type { Principal } from '../lib/principal.ts';
import { bearerToken, clientAddress, networkOf } from './addresses.ts';
import { type Credentials, credentialsOf } from './credentials.ts';
import type { TokenBuckets } from './rate-limit.ts';

export interface CallerParts {
  /** Resolves to the principal of the bearer token or the cookie; throws 401, or 403 for a cookie of another site. */
  authenticate: (credentials: Credentials) => Promise<Principal>;
  /** The address shown to users. Called once the server listens. */
  publicUrl: () => string;
  /** The proxies whose forwarded addresses are believed. */
  trustProxy?: string[];
  buckets: TokenBuckets;
  /** Requests per second and burst of one key. 0 per second switches the limit off. */
  rateLimit: () => { perSecond: number; burst: number };
}

type SetHeader = (name: string, value: string) => void;

/** Who calls, and how often they may. */
export interface Callers {
  /** Resolves to the principal of the request's bearer token; throws 401. Cookies do not count. */
  principalOf(request: IncomingMessage): Promise<Principal>;
  /**
   * Resolves to the principal of the request's token or, if `cookies`, of its cookie. Counts failures against the
   * address of the caller. Throws 401, 403 or 429.
   */
  authenticate(request: FastifyRequest, cookies: boolean): Promise<Principal>;
  /** Returns what the request says of its caller. */
  credentialsOf(request: FastifyRequest, cookies: boolean): Credentials;
  /** Takes one request without a key from the bucket of its address; throws 429. */
  limitAddress(request: FastifyRequest): void;
  /**
   * Takes one request to an operation that checks a credential, or to an OpenAPI document, from a bucket of its address,
   * before its body is read; throws 429.
   */
  limitAttempts(request: FastifyRequest): void;
  /**
   * Counts a 401 against the address of the caller, and a 400 or 422 of a caller without a key. Returns the 429 if there
   * were too many, else `failure`.
   */
  countFailure(request: FastifyRequest, failure: unknown): unknown;
  /** Takes one request from the buckets of the key and of its root, and sets the RateLimit headers; throws 429. */
  limitRate(principal: Principal, setHeader: SetHeader): void;
  /** Takes one request from the bucket `name`, with the limits of one key, and sets the RateLimit headers; throws 429. */
  limitName(name: string, setHeader: SetHeader): void;
}

/**
 * The joint limit of the keys of one person or service account, in limits of one key: who has many keys has little more
 * than who has one.
 */
const rootFactor = 1.5;

/**
 * The number of requests without a valid key that one address may send before 429, and the number a second after that.
 */
const withoutKey = { burst: 200, perSecond: 10 };

/**
 * The number of requests that one address may send to operations that check a credential, and to the OpenAPI documents,
 * whatever comes of them. It is so much larger, because it refuses valid credentials too; a body that small costs less
 * than a millisecond.
 */
const attempts = { burst: 1_000, perSecond: 50 };

/** The errors that count as failures of a request without a key: anyone could send what cannot be read without end. */
const failures: ReadonlySet<string> = new Set(['bad_request', 'unauthorized', 'unprocessable_entity']);

const tooMany = (message: string, retryAfter: number) =>
  new ApiError('too_many_requests', message, {}, { 'retry-after': String(retryAfter) });

export const createCallers = ({
  authenticate,
  publicUrl,
  trustProxy,
  buckets,
  rateLimit,
}: CallerParts): Callers => {
  const isTrusted = proxyAddr.compile(trustProxy ?? []);
  const ofRequest = (request: FastifyRequest, cookies: boolean): Credentials =>
    credentialsOf(
      {
        method: request.method,
        headers: request.headers,
        ip: () => clientAddress(request.ip),
        origin: () => `${request.protocol}://${request.host}`,
      },
      () => new URL(publicUrl()).origin,
      cookies,
    );
  const takeOf = (name: string, { perSecond, burst }: typeof withoutKey): void => {
    const { allowed, retryAfter } = buckets.take(name, perSecond, burst);
    if (allowed) return;
    throw tooMany(
      'Too many requests without a valid API key came from this address. Wait, and try again.',
      retryAfter,
    );
  };
  const limitAddress = ({ ip }: FastifyRequest): void => takeOf(`address ${networkOf(ip)}`, withoutKey);
  const limitAttempts = ({ ip }: FastifyRequest): void => takeOf(`attempts ${networkOf(ip)}`, attempts);
  const countFailure = (request: FastifyRequest, failure: unknown): unknown => {
    if (!(failure instanceof ApiError && failures.has(failure.code))) return failure;
    try {
      limitAddress(request);
      return failure;
    } catch (tooManyFailures) {
      return tooManyFailures;
    }
  };
  const limitName = (name: string, setHeader: SetHeader, whose = 'here'): void => {
    const { perSecond, burst } = rateLimit();
    if (perSecond <= 0) return;
    const { allowed, remaining, retryAfter } = buckets.take(name, perSecond, burst);
    setHeader('ratelimit-policy', `"default";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`);
    setHeader('ratelimit', `"default";r=${remaining};t=${retryAfter}`);
    if (!allowed)
      throw tooMany(`The limit of ${perSecond} requests a second ${whose} is reached.`, retryAfter);
  };
  return {
    principalOf: (request) =>
      authenticate({
        token: bearerToken(request.headers.authorization),
        cookie: undefined,
        ownPage: false,
        ip: () => clientAddress(proxyAddr(request, isTrusted)),
        userAgent: request.headers['user-agent'] ?? null,
      }),
    limitAddress,
    limitAttempts,
    countFailure,
    credentialsOf: ofRequest,
    authenticate: async (request, cookies) => {
      try {
        return await authenticate(ofRequest(request, cookies));
      } catch (error) {
        // Only failures count, so a valid key is never refused because of others behind the same address.
        throw countFailure(request, error);
      }
    },
    limitName,
    limitRate: (principal, setHeader) => {
      const { perSecond, burst } = rateLimit();
      if (perSecond <= 0) return;
      limitName(`principal ${principal.keyId ?? principal.id}`, setHeader, 'for one API key');
      const most = perSecond * rootFactor;
      const root = buckets.take(`root ${principal.rootId}`, most, Math.ceil(burst * rootFactor));
      if (root.allowed) return;
      throw tooMany(
        `The limit of ${most} requests a second for all API keys of one person or service account is reached.`,
        root.retryAfter,
      );
    },
  };
};
