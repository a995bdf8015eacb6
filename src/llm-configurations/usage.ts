/** Tokens of one or more model calls. */
export interface Usage {
  /** Cached ones included. */
  input_tokens: number;
  /** Reasoning included. */
  output_tokens: number;
  /** Input that the provider read from its cache. */
  cached_input_tokens: number;
  reasoning_tokens: number;
}

export const noUsage: Readonly<Usage> = {
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
};

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
  reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
});
