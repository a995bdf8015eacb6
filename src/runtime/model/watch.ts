import { ModelError } from '../step.ts';

/** Limit of a model's reply. */
const maxReplyBytes = 16 * 1024 * 1024;

/**
 * Watches one model call: how long it is silent, and what became of its response. The first token must come within
 * `firstTokenMs`; after it, no silence may be longer than `silenceMs`.
 */
export class Watch {
  /** Aborted when the caller ends the call, and when the model is silent for too long. */
  readonly signal: AbortSignal;
  /** Reason why the watch ended the call; null if it did not. */
  failure: ModelError | null = null;
  /** True if the connection was lost in the middle of the response. */
  cut = false;
  /** True if a part of a streamed reply arrived. */
  partial = false;
  readonly #firstTokenMs: number;
  readonly #silenceMs: number;
  readonly #abort = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #begun = false;

  constructor(caller: AbortSignal, firstTokenMs: number, silenceMs: number) {
    this.#firstTokenMs = firstTokenMs;
    this.#silenceMs = silenceMs;
    this.signal = AbortSignal.any([caller, this.#abort.signal]);
  }

  /** The request is being sent: the time for the first token begins. */
  sent(): void {
    const late = `The model sent no token within ${this.#firstTokenMs / 1_000} s (timeout_seconds).`;
    this.#timer = setTimeout(() => this.#fail(late), this.#firstTokenMs);
  }

  /** A token of the reply arrived. */
  token(): void {
    if (this.#begun) return;
    this.#begun = true;
    clearTimeout(this.#timer);
    const silent = `The model stopped in the middle of its reply, for ${this.#silenceMs / 1_000} s.`;
    this.#timer = setTimeout(() => this.#fail(silent), this.#silenceMs);
  }

  /** Bytes of the response arrived. Before the first token they count for nothing: an endpoint may send comments. */
  bytes(): void {
    if (this.#begun) this.#timer?.refresh();
  }

  /** Ends the watch, and the connection if the response was not read to its end. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  #fail(message: string): void {
    this.failure = new ModelError('model_unavailable', message, { retryable: true });
    this.#abort.abort(this.failure);
  }
}

const tooLarge = () =>
  new ModelError('model_answer_invalid', `The model's reply is larger than ${maxReplyBytes} bytes.`, {
    retryable: false,
  });

/** The body of a response: it fails after `maxReplyBytes`, and `watch` sees each chunk. */
const watchedBody = (body: ReadableStream<Uint8Array>, watch: Watch, firstByteIsToken: boolean) => {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.byteLength;
        if (firstByteIsToken) watch.token();
        watch.bytes();
        if (bytes <= maxReplyBytes) return controller.enqueue(value);
        watch.failure ??= tooLarge();
        controller.error(watch.failure);
        await reader.cancel();
      } catch (error) {
        watch.cut = true;
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
};

/** A reply that was asked for as a stream and came as one JSON body: some endpoints and proxies do not stream. */
export class WholeReply extends Error {
  readonly response: Response;
  constructor(response: Response) {
    super('the reply is not a stream');
    this.response = response;
  }
}

/** Resolves to whether `body` begins with an object, and to all of it. */
const peek = async (
  body: ReadableStream<Uint8Array>,
): Promise<{ isObject: boolean; body: ReadableStream<Uint8Array> }> => {
  const reader = body.getReader();
  const read: Uint8Array[] = [];
  let start = '';
  while (start === '') {
    const { done, value } = await reader.read();
    if (done) break;
    read.push(value);
    start = new TextDecoder().decode(value.subarray(0, 64)).trimStart();
  }
  return {
    isObject: start.startsWith('{'),
    body: new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const next = read.shift();
        if (next) return controller.enqueue(next);
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    }),
  };
};

const isStreamType = (response: Response): boolean =>
  /^(text\/event-stream|application\/vnd\.amazon\.eventstream)\b/i.test(
    response.headers.get('content-type') ?? '',
  );

/**
 * `fetch` for one model call, with bounded responses. If `streamed`, it rejects with WholeReply when the reply comes as
 * JSON instead of a stream.
 */
export const watchedFetch =
  (fetch: typeof globalThis.fetch, watch: Watch, streamed: boolean): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText } = response;
    const headers = [...response.headers];
    if (response.body === null || status === 204 || status === 304) {
      return new Response(null, { status, statusText, headers });
    }
    const body = watchedBody(response.body, watch, !streamed || !response.ok);
    if (!streamed || !response.ok || isStreamType(response)) {
      return new Response(body, { status, statusText, headers });
    }
    const peeked = await peek(body);
    const whole = new Response(peeked.body, { status, statusText, headers });
    if (!peeked.isObject) return whole;
    watch.token();
    throw new WholeReply(whole);
  };
