import type { Redactor } from '../../lib/redactor.ts';
import {
  type GivenInput,
  type InputAnswer,
  type InputRequest,
  isSameRequest,
  readRequest,
} from '../../tool-inputs/index.ts';
import { shortened } from './failures.ts';

/** What the client declares if people may be asked. It has no model and no folders for servers. */
export const elicitation = { elicitation: { form: {}, url: {} } };

export const cannotGive = (reason: string): string =>
  `The tool asks for something that agents cannot give: ${reason}.`;

const needsOther = (message: string): string =>
  `The tool asked for input ("${shortened(message)}"), which needs an idempotent tool or protocol 2026-07-28.`;

type Read = InputRequest | { fault: string };

/** The request as people see it: without the secrets of the server. */
export const redactedRequest = (request: Read, redactor: Redactor): Read => {
  if ('fault' in request) return { fault: redactor.text(request.fault) };
  const { mode, message, schema, url } = request;
  if (url !== null && redactor.text(url) !== url) return { fault: 'an address that contains a secret' };
  return {
    mode,
    message: redactor.text(message),
    schema: redactor.value(schema) as InputRequest['schema'],
    url,
  };
};

/** A call in flight, as far as requests of its server for input concern it. */
export interface CallInFlight {
  idempotent: boolean;
  /** Answers from before: the same questions get them at once, in their order. */
  answered: GivenInput['answered'];
  /** How many of them it has got. */
  used: number;
  /** The question that no one has answered yet: the call is made again with the answer. */
  asked: InputRequest | null;
  /** Why people cannot be asked. */
  fault: string | null;
  /** What the model is told besides the result. */
  notes: string[];
}

export const newCallInFlight = (idempotent: boolean, input: GivenInput | null): CallInFlight => ({
  idempotent,
  answered: input?.answered ?? [],
  used: 0,
  asked: null,
  fault: null,
  notes: [],
});

const cancel: InputAnswer = { action: 'cancel' };

/**
 * The calls in flight on one connection of the older protocol, in which a server asks for input by a request that names no
 * call. No call is held until a person answers: it would not survive the worker.
 */
export class CallsInFlight {
  readonly #calls = new Set<CallInFlight>();
  readonly #redactor: Redactor;
  readonly #onUnclear: () => void;

  /** `onUnclear`: the server asked while several calls were in flight. */
  constructor(redactor: Redactor, onUnclear: () => void) {
    this.#redactor = redactor;
    this.#onUnclear = onUnclear;
  }

  async during<T>(call: CallInFlight, fn: () => Promise<T>): Promise<T> {
    this.#calls.add(call);
    try {
      return await fn();
    } finally {
      this.#calls.delete(call);
    }
  }

  /** The answer to a request of the server. */
  answer(params: unknown): InputAnswer {
    const [call, ...others] = this.#calls;
    if (!call) return cancel;
    const request = redactedRequest(readRequest('elicitation/create', params), this.#redactor);
    if (others.length > 0 || !call.idempotent) {
      const { message } = (params ?? {}) as { message?: unknown };
      const note = needsOther(this.#redactor.text(typeof message === 'string' ? message : ''));
      for (const one of this.#calls) if (!one.notes.includes(note)) one.notes.push(note);
      if (others.length > 0) this.#onUnclear();
      return cancel;
    }
    if (call.asked || call.fault !== null) return cancel;
    if ('fault' in request) {
      call.fault = request.fault;
      return cancel;
    }
    const before = call.answered[call.used];
    if (before && isSameRequest(before, request)) {
      call.used++;
      return before.answer;
    }
    call.asked = request;
    return cancel;
  }
}
