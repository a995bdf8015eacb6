import { type CallToolResult, SdkErrorCode } from '@modelcontextprotocol/client';
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

/** Nothing took place. `unauthorized`: because the server refuses the credentials. */
type NotMade = { kind: 'refused' | 'unauthorized'; message: string };

/** Outcome of a call. `error`: with an answer that is no result. `lost`: no answer came. */
export type CallOutcome =
  | { kind: 'answer'; result: CallToolResult }
  | { kind: 'error'; message: string }
  | NotMade
  | { kind: 'lost' };

/** A gateway that got no response, or none in time, does not know either whether the call took place. */
const gatewayStatuses = new Set([502, 504, 520, 524]);
/** The server refuses the credentials, or denies access. */
const unauthorizedStatuses = new Set([401, 403]);
/** The server says that it did nothing: not implemented, not available. */
const refusedServerErrors = new Set([501, 503]);

/** Says how a call ended for which there was no connection. */
export const notConnected = ({ step, message }: ConnectionFailure): NotMade => ({
  kind: step === 'authenticate' ? 'unauthorized' : 'refused',
  message,
});

/** Says how a call ended that failed with `error`. `sent`: any of it may have reached the server. */
export const failedCallOf = (error: unknown, sent: boolean): Exclude<CallOutcome, { kind: 'answer' }> => {
  const refusal = protocolErrorOf(error);
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
      return { kind: 'error', message: 'The tool asks for input, which agents cannot give it.' };
    case SdkErrorCode.InvalidResult:
      return { kind: 'error', message: 'The response of the tool is not a valid result.' };
  }
  if (sent) return { kind: 'lost' };
  if (sdkCodeOf(error) === SdkErrorCode.RequestTimeout) {
    return { kind: 'refused', message: 'There was no connection to the server in time.' };
  }
  return notConnected(connectionFailureOf(error, 'negotiate'));
};
