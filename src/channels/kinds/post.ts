import type { Clock } from '../../lib/clock.ts';
import { type Egress, EgressError, type EgressResponse } from '../../lib/egress.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { reachInSteps, TestFailure, type TestSteps, testFailureOf } from '../test-steps.ts';
import { type SendResult, sendMs } from './kind.ts';

/** Kinds of channels that are one HTTP request. */

export interface PostParts {
  egress: Egress;
  clock: Clock;
}

/** Limit of the body of a response, of which nothing is shown. */
const maxBodyBytes = 4_096;

export interface HttpRequest {
  url: string;
  headers?: Record<string, string>;
  body: string;
}

const post = (
  { egress }: PostParts,
  { url, headers, body }: HttpRequest,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<EgressResponse> =>
  egress.request(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'agent-platform' },
    body,
    timeoutMs,
    maxBodyBytes,
    ...(signal && { signal }),
  });

const statusError = (status: number): string =>
  `The receiver responded with ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : ''}.`;

/**
 * Sends one request. A 2xx is delivered, a status of `permanent` fails at once, 429 stops the channel for as long as its
 * Retry-After says, and everything else is tried again.
 */
export const sendRequest = async (
  parts: PostParts,
  request: HttpRequest,
  signal: AbortSignal,
  permanent: readonly number[] = [410],
): Promise<SendResult> => {
  let response: EgressResponse;
  try {
    response = await post(parts, request, sendMs, signal);
  } catch (error) {
    if (!(error instanceof EgressError) || signal.aborted) throw error;
    return { outcome: 'retry', error: `${error.message}.`, retryAfterMs: null };
  }
  const { status, headers } = response;
  if (status >= 200 && status < 300) return { outcome: 'delivered', posted: {} };
  const error = statusError(status);
  if (permanent.includes(status)) return { outcome: 'failed', error, blamesChannel: true };
  const wait = retryAfterMs(headers['retry-after'], parts.clock.now());
  return { outcome: 'retry', error, retryAfterMs: wait, pausesChannel: status === 429 };
};

/** The steps `resolve`, `connect`, `tls` and `message` of a test, whose message is `request`. */
export const testRequest = async (
  parts: PostParts,
  request: HttpRequest,
  steps: TestSteps,
): Promise<void> => {
  const url = new URL(request.url);
  try {
    await reachInSteps(parts.egress, url, steps);
    steps.begin(url.protocol === 'https:' ? 'tls' : 'message');
    const { status } = await steps.within(post(parts, request, steps.msLeft));
    if (url.protocol === 'https:') {
      steps.begin('tls');
      steps.passed('The certificate is trusted.');
    }
    steps.begin('message');
    if (status < 200 || status >= 300) throw new TestFailure(statusError(status), 'message');
    steps.passed('The receiver accepted the message.');
  } catch (error) {
    if (error instanceof EgressError) throw testFailureOf(error, 'message');
    throw error;
  }
};
