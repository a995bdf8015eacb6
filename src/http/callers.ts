import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../lib/errors.ts';
import type { Principal } from '../lib/principal.ts';
import { bearerToken } from './addresses.ts';
import type { TokenBuckets } from './rate-limit.ts';

export interface CallerParts {
  /** Resolves to the principal of the bearer token (undefined: none was sent) or the cookie; throws 401. */
  authenticate: (request: { token: string | undefined; cookie: string | undefined }) => Promise<Principal>;
  buckets: TokenBuckets;
  /** Requests per second and burst of one key. 0 per second switches the limit off. */
  rateLimit: () => { perSecond: number; burst: number };
}

type SetHeader = (name: string, value: string) => void;

/** Who calls, and how often they may. */
export interface Callers {
  /** Resolves to the principal of the request's headers; throws 401. */
  principalOf(headers: IncomingHttpHeaders): Promise<Principal>;
  /** Like `principalOf`, and counts failures against the address of the caller; throws 401 or 429. */
  authenticate(request: FastifyRequest): Promise<Principal>;
  /** Takes one request without a key from the bucket of its address; throws 429. */
  limitAddress(request: FastifyRequest): void;
  /** Takes one request from the key's bucket, and sets the RateLimit headers; throws 429. */
  limitRate(principal: Principal, setHeader: SetHeader): void;
}

/** How many requests without a valid key one address may send before 429, and how many a second after that. */
const withoutKey = { burst: 200, perSecond: 10 };

const tooMany = (message: string, retryAfter: number) =>
  new ApiError('too_many_requests', message, {}, { 'retry-after': String(retryAfter) });

export const createCallers = ({ authenticate, buckets, rateLimit }: CallerParts): Callers => {
  const principalOf = ({ authorization, cookie }: IncomingHttpHeaders): Promise<Principal> =>
    authenticate({ token: bearerToken(authorization), cookie });
  const limitAddress = ({ ip }: FastifyRequest): void => {
    const { allowed, retryAfter } = buckets.take(`address ${ip}`, withoutKey.perSecond, withoutKey.burst);
    if (allowed) return;
    throw tooMany(
      'Too many requests without a valid API key came from this address. Wait, and try again.',
      retryAfter,
    );
  };
  return {
    principalOf,
    limitAddress,
    authenticate: async (request) => {
      try {
        return await principalOf(request.headers);
      } catch (error) {
        // Only failures count, so a valid key is never refused because of others behind the same address.
        if (error instanceof ApiError && error.code === 'unauthorized') limitAddress(request);
        throw error;
      }
    },
    limitRate: (principal, setHeader) => {
      const { perSecond, burst } = rateLimit();
      if (perSecond <= 0) return;
      const name = `principal ${principal.keyId ?? principal.id}`;
      const { allowed, remaining, retryAfter } = buckets.take(name, perSecond, burst);
      setHeader('ratelimit-policy', `"default";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`);
      setHeader('ratelimit', `"default";r=${remaining};t=${retryAfter}`);
      if (allowed) return;
      throw tooMany(`The limit of ${perSecond} requests a second for one API key is reached.`, retryAfter);
    },
  };
};
