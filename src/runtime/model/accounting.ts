import type { CallAccount } from '../../charges/index.ts';
import { failureOf } from '../../lib/egress-exchange.ts';
import type { ReportedTokens } from '../../lib/tokens.ts';
import { type Model, ModelError, type StepRequest } from '../step.ts';

type OpenCall = Awaited<ReturnType<CallAccount['begin']>>;

/** Tokens of a prompt at most, besides one for each byte of its text: no tokenizer of bytes makes more tokens than bytes. */
const [ofPrompt, ofMessage, ofFile] = [1_000, 16, 50_000];

/** A prompt whose tokens are bounded. */
interface BoundPrompt {
  /** In UTF-8, without files. */
  bytes: number;
  messages: number;
  files: number;
}

const boundOf = ({ bytes, messages, files }: BoundPrompt): number =>
  bytes + ofMessage * messages + ofPrompt + ofFile * files;

/** Returns whether a request failed before any of it was sent. */
const isUnsent = (error: unknown): boolean => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || cause?.code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  return ['denied', 'dns', 'proxy', 'connect', 'tls'].includes(failureOf(error).kind);
};

interface AccountedRequest extends Pick<StepRequest, 'span' | 'signal'> {
  /** The limit of the reply that is sent; null: none. */
  maxOutputTokens: number | null;
}

/**
 * One call of a model in its account. It is opened right before its request is sent. It costs nothing if the request
 * could not be sent, or if an HTTP status refused it; whatever else becomes of it is a charge.
 */
export class AccountedCall {
  /** Reason why it was not opened, and not sent; null if it was. */
  refusal: unknown = null;
  readonly #account: CallAccount | undefined;
  readonly #request: AccountedRequest;
  #open: OpenCall | null = null;

  constructor(account: CallAccount | undefined, request: AccountedRequest) {
    this.#account = account;
    this.#request = request;
  }

  /** Opens the call. Rejects with `refusal` if it must not be sent. */
  async begin(prompt: BoundPrompt): Promise<void> {
    const { span = null, signal, maxOutputTokens } = this.#request;
    try {
      const call = { span, signal, maxInputTokens: boundOf(prompt), maxOutputTokens };
      this.#open = (await this.#account?.begin(call)) ?? null;
    } catch (error) {
      this.refusal = error;
      throw error;
    }
  }

  /** Charges the call, if it is open. `reported` is null if its usage is not known. */
  async end(reported: ReportedTokens | null, model: string | null): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.end({ reported, model });
  }

  /** Nothing is charged. */
  void(): void {
    this.#open?.void();
    this.#open = null;
  }

  /** `fetch`, which opens the call. `prompt` says what the body has besides text. */
  fetch(
    fetch: typeof globalThis.fetch,
    prompt: { messages: number; files: number; fileBytes: number },
    onSent: () => void,
  ): typeof globalThis.fetch {
    return async (input, init) => {
      const { body } = init ?? {};
      const size =
        typeof body === 'string' ? Buffer.byteLength(body) : ((body as Uint8Array)?.byteLength ?? 0);
      await this.begin({ ...prompt, bytes: Math.max(0, size - prompt.fileBytes) });
      try {
        onSent();
        const response = await fetch(input, init);
        if (!response.ok) this.void();
        return response;
      } catch (error) {
        if (isUnsent(error)) this.void();
        throw error;
      }
    };
  }
}

/** A model without a network whose calls are charged. Those that it lets fail are as if they were not sent. */
export const accountedModel = (model: Model, account: CallAccount | undefined): Model => ({
  ...model,
  step: async (request) => {
    const maxOutputTokens = request.maxOutputTokens ?? (await account?.outputLimit()) ?? null;
    const call = new AccountedCall(account, { ...request, maxOutputTokens });
    const { messages } = request;
    const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    await call.begin({ bytes, messages: messages.length, files: 0 });
    try {
      const result = await model.step(request);
      await call.end(result.tokens, result.responseModel);
      return result;
    } catch (error) {
      if (error instanceof ModelError) call.void();
      await call.end(null, null);
      throw error;
    }
  },
});
