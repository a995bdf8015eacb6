import type { Message, ToolCall } from './messages.ts';
import type { Tool } from './tools.ts';

export interface Usage {
  input_tokens: number;
  output_tokens: number;
}

export interface StepRequest {
  messages: readonly Message[];
  tools: readonly Pick<Tool, 'name' | 'description' | 'inputSchema'>[];
  /** Ends the call, which then rejects with the signal's reason or an AbortError. */
  signal: AbortSignal;
}

/** The reply of a model to one call. */
export interface StepResult {
  text: string;
  toolCalls: ToolCall[];
  usage: Usage;
  /** `stop`, `length`, `content-filter`, `tool-calls` or another. */
  finishReason: string;
  /** The model that replied, as the endpoint names it. */
  responseModel: string;
  responseId: string | null;
}

/** A language model, one call at a time. */
export interface Model {
  /** `gen_ai.provider.name` of its spans. */
  provider: string;
  /** The requested model. */
  name: string;
  /** Rejects with ModelError, or when the signal is aborted. */
  step(request: StepRequest): Promise<StepResult>;
}

export type ModelErrorCode =
  | 'model_unauthorized'
  | 'model_rate_limited'
  | 'model_unavailable'
  | 'model_refused'
  | 'model_answer_invalid';

/** A model call failed. `message` is shown on the Work Item: it holds no secret. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** How long the provider asked to wait, in milliseconds; null if it did not say. */
  readonly retryAfterMs: number | null;

  constructor(
    code: ModelErrorCode,
    message: string,
    { retryable, retryAfterMs = null }: { retryable: boolean; retryAfterMs?: number | null },
  ) {
    super(message);
    this.name = 'ModelError';
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}
