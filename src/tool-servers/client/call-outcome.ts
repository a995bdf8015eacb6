import { type CallToolResult, ProtocolErrorCode, SdkErrorCode } from '@modelcontextprotocol/client';
import type { InputRequest } from '../../tool-inputs/index.ts';
import {
  type ConnectionFailure,
  connectionFailureOf,
  protocolErrorOf,
  reasonOf,
  sdkCodeOf,
  shortened,
  statusOf,
  tooLargeOf,
} from './failures.ts';
import { type CallInFlight, cannotGive } from './input.ts';

/** Nothing took place. `unauthorized`: because the server refuses the credentials. */
type NotMade = { kind: 'refused' | 'unauthorized'; message: string };

/** The server wants addresses opened first, and did nothing. They are as it sent them. */
type UrlsWanted = { kind: 'urls'; elicitations: unknown };

/**
 * Outcome of a call. `error`: with an answer that is no result. `lost`: no answer came. `input_required`: it is to be
 * repeated with answers, or with the state alone; the requests are as the server sent them. `asked`: the server asked for
 * this while the call was in flight, after it got `used` answers.
 */
export type CallOutcome =
  | { kind: 'answer'; result: CallToolResult; notes?: readonly string[] }
  | { kind: 'error'; message: string; notes?: readonly string[] }
  | NotMade
  | { kind: 'lost' }
  | { kind: 'input_required'; requests: Record<string, unknown>; requestState: string | null }
  | UrlsWanted
  | { kind: 'asked'; request: InputRequest; used: number };

/** A gateway that got no response, or none in time, does not know either whether the call took place. */
const gatewayStatuses = new Set([502, 504, 520, 524]);
/** The server refuses the credentials, or denies access. */
const unauthorizedStatuses = new Set([401, 403]);
/** The server says that it did nothing: not implemented, not available. */
const refusedServerErrors = new Set([501, 503]);

/** People may not be asked. */
export const notHere = cannotGive('input, which its tool server may not ask people for here');

/** What the server asked while the call was in flight: then its result counts for nothing. */
export const askedWhile = ({ fault, asked, used }: CallInFlight): CallOutcome | null => {
  if (fault !== null) return { kind: 'error', message: cannotGive(fault) };
  return asked && { kind: 'asked', request: asked, used };
};

/** The outcome of a call whose server answered. */
export const outcomeOf = (result: object, { notes }: CallInFlight): CallOutcome => {
  const {
    resultType,
    inputRequests = {},
    requestState = null,
  } = result as {
    resultType?: unknown;
    inputRequests?: Record<string, unknown>;
    requestState?: string | null;
  };
  return resultType === 'input_required'
    ? { kind: 'input_required', requests: inputRequests, requestState }
    : { kind: 'answer', result: result as CallToolResult, notes };
};

/** Says how a call ended for which there was no connection. */
export const notConnected = ({ step, message }: ConnectionFailure): NotMade => ({
  kind: step === 'authenticate' ? 'unauthorized' : 'refused',
  message,
});

/** Says how a call ended that failed with `error`. `sent`: any of it may have reached the server. */
export const failedCallOf = (
  error: unknown,
  sent: boolean,
): (CallOutcome & { kind: 'error' | 'lost' }) | NotMade | UrlsWanted => {
  const refusal = protocolErrorOf(error);
  if (refusal?.code === ProtocolErrorCode.UrlElicitationRequired) {
    return {
      kind: 'urls',
      elicitations: (refusal.data as { elicitations?: unknown } | undefined)?.elicitations,
    };
  }
  if (refusal) return { kind: 'error', message: shortened(refusal.message, 2_000) };
  const status = statusOf(error);
  if (status !== undefined) {
    if (gatewayStatuses.has(status)) return { kind: 'lost' };
    const reason = reasonOf(error);
    const why = reason === null ? '.' : `: ${reason}`;
    return status < 500 || refusedServerErrors.has(status)
      ? {
          kind: unauthorizedStatuses.has(status) ? 'unauthorized' : 'refused',
          message: `The server refused the call (HTTP ${status})${why}`,
        }
      : {
          kind: 'error',
          message: `The server failed during the call, which may have taken effect (HTTP ${status})${why}`,
        };
  }
  if (tooLargeOf(error)) return { kind: 'error', message: 'The response of the tool is too large.' };
  switch (sdkCodeOf(error)) {
    case SdkErrorCode.UnsupportedResultType:
      return {
        kind: 'error',
        message: notHere,
      };
    case SdkErrorCode.InvalidResult:
      return { kind: 'error', message: 'The response of the tool is not a valid result.' };
  }
  if (sent) return { kind: 'lost' };
  if (sdkCodeOf(error) === SdkErrorCode.RequestTimeout) {
    return { kind: 'refused', message: 'There was no connection to the server in time.' };
  }
  return notConnected(connectionFailureOf(error, 'negotiate'));
};
