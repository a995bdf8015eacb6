import {
  type AskedInput,
  type GivenInput,
  type InputRequest,
  readRequest,
  readRequests,
} from '../tool-inputs/index.ts';
import type { CallOutcome } from './client/call-outcome.ts';
import type { Connection } from './client/connection.ts';
import { redactedRequest } from './client/input.ts';

/** A call asks at most so often. */
const maxRounds = 10;
const maxStateBytes = 256 * 1024;
const maxUrls = 50;

/** An outcome in which the server asks for something. */
export type AskingOutcome = CallOutcome & { kind: 'input_required' | 'urls' | 'asked' };

export const asks = (outcome: CallOutcome): outcome is AskingOutcome =>
  outcome.kind === 'input_required' || outcome.kind === 'urls' || outcome.kind === 'asked';

/** Why the state cannot be kept; null if it can. */
export const stateFault = (state: string | null): string | null =>
  state !== null && Buffer.byteLength(state) > maxStateBytes ? 'to keep a state of more than 256 KB' : null;

const urlRequests = (elicitations: unknown): Map<string, InputRequest> | { fault: string } => {
  if (!Array.isArray(elicitations) || elicitations.length === 0)
    return { fault: 'addresses that it does not name' };
  if (elicitations.length > maxUrls) return { fault: `more than ${maxUrls} things at once` };
  const requests = new Map<string, InputRequest>();
  for (const [i, params] of elicitations.entries()) {
    const request = readRequest('elicitation/create', { mode: 'url', ...params });
    if ('fault' in request) return request;
    requests.set(String(i), request);
  }
  return requests;
};

const requestsOf = (outcome: AskingOutcome): Map<string, InputRequest> | { fault: string } => {
  switch (outcome.kind) {
    case 'input_required':
      return readRequests(outcome.requests);
    case 'urls':
      return urlRequests(outcome.elicitations);
    case 'asked':
      return new Map([['', outcome.request]]);
  }
};

/**
 * The answers that the repeated call gives again at once. It asks while it is in flight before it wants addresses opened, and
 * so it does once they are.
 */
const answeredBefore = (outcome: AskingOutcome, given: GivenInput | undefined): AskedInput['answered'] => {
  const before = given?.answered ?? [];
  if (outcome.kind === 'urls') return before;
  return outcome.kind === 'asked' ? before.slice(0, outcome.used) : [];
};

const ways = { input_required: 'result', urls: 'error', asked: 'request' } as const;

/** What people are asked, and what is kept for the next call; or why they cannot be. */
export const askedInput = (
  outcome: AskingOutcome,
  given: GivenInput | undefined,
  { redactor }: Pick<Connection, 'redactor'>,
): AskedInput | { fault: string } => {
  const round = (given?.round ?? 0) + 1;
  if (round > maxRounds) return { fault: `input more than ${maxRounds} times` };
  const requestState = outcome.kind === 'input_required' ? outcome.requestState : null;
  const fault = stateFault(requestState);
  if (fault !== null) return { fault };
  const read = requestsOf(outcome);
  if ('fault' in read) return { fault: redactor.text(read.fault) };
  const requests: (InputRequest & { key: string })[] = [];
  for (const [key, request] of read) {
    const shown = redactedRequest(request, redactor);
    if ('fault' in shown) return shown;
    requests.push({ key, ...shown });
  }
  return { way: ways[outcome.kind], round, requests, requestState, answered: answeredBefore(outcome, given) };
};
