import type { ReportedTokens } from '../lib/tokens.ts';
import type { Usage } from '../lib/usage.ts';
import type { Message, ProviderParts, ToolCall } from './messages.ts';
import type { Tool } from './tools.ts';

/** A tool as models get it. */
type ToolDefinition = Pick<Tool, 'name' | 'description' | 'inputSchema'>;

export interface StepRequest {
  messages: readonly Message[];
  /** Sorted by name, so that the prompt begins like the one before and is found in the provider's cache. */
  tools: readonly ToolDefinition[];
  /** Ends the call, which then rejects with the signal's reason or an AbortError. */
  signal: AbortSignal;
  /** Rest of a budget; null: no more than the configuration allows. */
  maxOutputTokens: number | null;
  /** Receives the text as it comes. */
  onDelta?: (text: string) => void;
  /** JSON Schema of the reply, which is then JSON. Not every endpoint holds its model to it. */
  output?: Record<string, unknown>;
  /** The key of the prompt cache for providers that have one: the id of the agent. */
  cacheKey: string | null;
  /** The span of the call. */
  span?: { traceId: string; spanId: string };
}

/** The reply of a model to one call. */
export interface StepResult {
  text: string;
  toolCalls: ToolCall[];
  /** The same tokens as the API counts them; none if the endpoint reported none. */
  usage: Usage;
  /** Null: the endpoint reported none. */
  tokens: ReportedTokens | null;
  /** `stop`, `length`, `content-filter`, `tool-calls` or another. */
  finishReason: string;
  /** The model that replied, as the endpoint names it. */
  responseModel: string;
  responseId: string | null;
  /** Remarks for people: tools that the model did not get, and why. */
  notes?: readonly string[];
  /** The names of the tools of the request that the model did not get. */
  leftOut?: readonly string[];
  /** The reply as the provider gave it, stored with the message; null if `text` and `toolCalls` are all of it. */
  providerParts: ProviderParts | null;
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
  | 'model_answer_invalid'
  /** The conversation does not fit into the model's context: send less of it. */
  | 'context_too_long';

/** A part of a request that an endpoint does not take, while it may take the request without it. */
export type Refused = 'tools' | 'output';

/** A model call failed. `message` is shown on the Work Item: it holds no secret. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /** Time that the provider asked to wait, in milliseconds; null if it did not say. */
  readonly retryAfterMs: number | null;
  /** Feature that the endpoint does not take; null if it did not say. */
  readonly refused: Refused | null;

  constructor(
    code: ModelErrorCode,
    message: string,
    {
      retryable,
      retryAfterMs = null,
      refused = null,
    }: { retryable: boolean; retryAfterMs?: number | null; refused?: Refused | null },
  ) {
    super(message);
    this.name = 'ModelError';
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.refused = refused;
  }
}
