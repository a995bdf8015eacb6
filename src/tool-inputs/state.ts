import { isDeepStrictEqual } from 'node:util';
import type { InputRequest } from './requests.ts';

type Json = Record<string, unknown>;

/** What a person answered, as the protocol has it. `cancel`: no one did. */
export interface InputAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Json;
}

/**
 * How a server asks: with a result after which the same call is repeated with the answers (`result`), with an error for
 * addresses that are opened before the call (`error`), or with a request while the call is in flight (`request`).
 */
type Way = 'result' | 'error' | 'request';

interface Answered extends InputRequest {
  answer: InputAnswer;
}

/** A call that asks for input, as its tool server's client knows it. */
export interface AskedInput {
  way: Way;
  /** From 1. */
  round: number;
  /** By the keys that the server gave them. */
  requests: readonly (InputRequest & { key: string })[];
  /** What the server wants back, unchanged. */
  requestState: string | null;
  /** The answers of earlier rounds that it asked for while it was in flight, in order. */
  answered: readonly Answered[];
}

/** A call that waits for input or has got it, as it is kept. */
export interface InputState extends Omit<AskedInput, 'requests'> {
  /** What the call is made with, and whether a person changed it. */
  arguments: Json;
  edited: boolean;
  /** That of the tool when it asked. */
  definitionHash: string | null;
  requests: readonly (InputRequest & { key: string; approvalId: string })[];
  /** By the ids of the approvals. */
  answers: Readonly<Record<string, InputAnswer>>;
}

/** What a call gets that goes on with answers. */
export interface GivenInput {
  way: Way;
  round: number;
  /** By the keys of the requests. */
  responses: Readonly<Record<string, InputAnswer>>;
  requestState: string | null;
  answered: readonly Answered[];
}

export const isAnswered = ({ requests, answers }: InputState): boolean =>
  requests.every(({ approvalId }) => Object.hasOwn(answers, approvalId));

export const givenInput = ({
  way,
  round,
  requests,
  requestState,
  answered,
  answers,
}: InputState): GivenInput => ({
  way,
  round,
  requestState,
  responses: Object.fromEntries(requests.map(({ key, approvalId }) => [key, answers[approvalId]!])),
  answered: [
    ...answered,
    ...requests.map(({ key: _, approvalId, ...request }) => ({ ...request, answer: answers[approvalId]! })),
  ],
});

/** Returns whether a server asks for the same as before. */
export const isSameRequest = ({ answer: _, ...before }: Answered, request: InputRequest): boolean =>
  isDeepStrictEqual(before, request);

/** Why a call is not made whose server wants addresses opened first; null if all were. */
export const refusalOf = ({ way, requests, answers }: InputState): string | null => {
  if (way !== 'error') return null;
  const actions = requests.map(({ approvalId }) => answers[approvalId]!.action);
  if (actions.includes('decline')) {
    return 'The tool was not called: a person declined to open an address that it needs.';
  }
  return actions.includes('cancel')
    ? 'The tool was not called: no one opened the address that it needs in time.'
    : null;
};
