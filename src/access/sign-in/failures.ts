import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';
import { EgressError } from '../../lib/egress.ts';
import { ApiError, type ErrorCode } from '../../lib/errors.ts';
import type { IdentityRefusal } from '../people/identity.ts';

type ExchangeReason =
  | 'flow_expired'
  | 'code_rejected'
  | 'token_invalid'
  | 'clock_skew'
  | 'provider_refused'
  | 'provider_unavailable'
  | 'client_rejected';

/** The reason why a sign-in failed, as clients see it. */
export type SignInReason = ExchangeReason | IdentityRefusal['reason'];

const failures: Record<ExchangeReason, [ErrorCode, message: string]> = {
  flow_expired: [
    'bad_request',
    'This sign-in was not started in this browser, took longer than 10 minutes, or was used already. Start it again.',
  ],
  code_rejected: [
    'bad_request',
    'The identity provider did not accept the code of this sign-in. Start it again.',
  ],
  token_invalid: [
    'bad_request',
    'The response of the identity provider is not valid, so no one was signed in. If it happens again, ask an administrator to look up the error id in the log.',
  ],
  clock_skew: [
    'bad_request',
    'The clocks of the identity provider and of this platform differ. Ask an administrator to set them.',
  ],
  provider_refused: [
    'forbidden',
    'The identity provider refused this sign-in. Try again, or ask the administrator of the identity provider for access to this application.',
  ],
  provider_unavailable: [
    'service_unavailable',
    'The identity provider cannot be reached or does not respond as it should. Wait a moment, and try again.',
  ],
  client_rejected: [
    'service_unavailable',
    'Sign-in is not set up correctly. Ask an administrator to look up the error id in the log.',
  ],
};

const isOfExchange = (reason: SignInReason): reason is ExchangeReason => Object.hasOwn(failures, reason);

/** A sign-in that failed: what the person sees, and the cause for the log. */
export class SignInError extends ApiError {
  readonly reason: SignInReason;
  /** For the log: never a token, a code, a secret or the value of a claim. */
  readonly logged: string;

  constructor(
    reason: SignInReason,
    logged: string,
    { message, retryAfter = 5 }: { message?: string; retryAfter?: number } = {},
  ) {
    // The rules for people bring their own message.
    const [code, text] = isOfExchange(reason) ? failures[reason] : (['forbidden', ''] as const);
    const headers: Record<string, string> =
      code === 'service_unavailable' ? { 'retry-after': String(retryAfter) } : {};
    super(code, message ?? text, { reason }, headers);
    this.reason = reason;
    this.logged = logged;
  }
}

/** 400 `clock_skew`, which says by how much the clocks differ. */
export const clockSkew = (claim: string, seconds: number): SignInError =>
  new SignInError('clock_skew', `${claim} of the ID token: the clocks differ by ${seconds} s`, {
    message: `The clocks of the identity provider and of this platform differ by ${seconds} s. Ask an administrator to set them.`,
  });

/** The tolerance for the times in tokens, in seconds. */
export const clockToleranceSeconds = 60;

/** Returns the difference of the clocks in seconds, judged by a token that was just issued. */
export const skewOf = (claims: Record<string, unknown>, claim: string, now: number): number => {
  const { iat } = claims;
  const issued = typeof iat === 'number' && Math.abs(now - iat) > clockToleranceSeconds ? iat : claims[claim];
  return Math.round(Math.abs(now - Number(issued)));
};

/** An error code of the provider for the log: only if it looks like one, because anyone can send the callback a text. */
const cleanCode = (code: string): string => (/^[a-z_]{1,64}$/.test(code) ? code : 'an unknown error');

/** Errors of the library whose messages are fixed texts. */
const fixedTexts = new Set(['OperationProcessingError', 'UnsupportedOperationError', 'ClientError']);

const chainOf = (error: unknown): unknown[] => {
  const chain: unknown[] = [];
  for (let at = error; at !== undefined && chain.length < 5; at = (at as { cause?: unknown } | null)?.cause) {
    chain.push(at);
  }
  return chain;
};

/** Returns the cause of a failed exchange with the provider for the log, without anything that was sent. */
export const causeOf = (error: unknown): string => {
  if (error instanceof SignInError) return error.logged;
  if (error instanceof ResponseBodyError) return `${cleanCode(error.error)} (status ${error.status})`;
  if (error instanceof AuthorizationResponseError) return cleanCode(error.error);
  const chain = chainOf(error);
  const egress = chain.find((one) => one instanceof EgressError);
  if (egress) return egress.message;
  const response = chain.find((one) => one instanceof Response);
  const named = chain.filter((one) => one instanceof Error && fixedTexts.has(one.name)).at(-1) as
    | Error
    | undefined;
  const text = named?.message ?? (error as Error | undefined)?.name ?? 'unknown';
  return response ? `${text} (status ${response.status})` : text;
};

/** The provider says that it is down, in the words of RFC 6749, section 4.1.2.1. */
const isDown = (code: string): boolean => code === 'temporarily_unavailable' || code === 'server_error';

const reasonOfBody = ({ error, status }: ResponseBodyError): SignInReason => {
  if (status === 401 || error === 'invalid_client' || error === 'unauthorized_client')
    return 'client_rejected';
  return status === 429 || isDown(error) ? 'provider_unavailable' : 'code_rejected';
};

/** Returns what a failed exchange with the provider means. `now` is in seconds since 1970. */
export const toSignInError = (error: unknown, now: number): ApiError => {
  const chain = chainOf(error);
  const own = chain.find((one) => one instanceof ApiError);
  if (own) return own;
  const logged = causeOf(error);
  if (error instanceof ResponseBodyError) return new SignInError(reasonOfBody(error), logged);
  if (error instanceof AuthorizationResponseError) {
    return new SignInError(isDown(error.error) ? 'provider_unavailable' : 'provider_refused', logged);
  }
  if (chain.some((one) => one instanceof EgressError)) return new SignInError('provider_unavailable', logged);
  const response = chain.find((one) => one instanceof Response);
  if (response) {
    return new SignInError(response.status === 401 ? 'client_rejected' : 'provider_unavailable', logged);
  }
  if ((error as { code?: string }).code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') {
    const { claims, claim } = chain.at(-1) as { claims: Record<string, unknown>; claim: string };
    return clockSkew(claim, skewOf(claims, claim, now));
  }
  return new SignInError('token_invalid', logged);
};
