import type { Usage } from './usage.ts';

/** The tokens of model calls in disjoint buckets: each token is in exactly one, and has the price of that one. */
export interface Tokens {
  /** Text of the prompt that no cache was read or written for. */
  input: number;
  input_audio: number;
  cache_read: number;
  /** Written to a cache that keeps it for minutes. */
  cache_write: number;
  cache_write_1h: number;
  /** Text of the reply, without reasoning. */
  output: number;
  output_audio: number;
  reasoning: number;
}

/** The names of the buckets, those of the prompt first. */
export const buckets = [
  'input',
  'input_audio',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'output',
  'output_audio',
  'reasoning',
] as const satisfies readonly (keyof Tokens)[];

export const noTokens: Readonly<Tokens> = {
  input: 0,
  input_audio: 0,
  cache_read: 0,
  cache_write: 0,
  cache_write_1h: 0,
  output: 0,
  output_audio: 0,
  reasoning: 0,
};

/** All five buckets of the prompt. */
export const inputTokens = (tokens: Tokens): number =>
  tokens.input + tokens.input_audio + tokens.cache_read + tokens.cache_write + tokens.cache_write_1h;

/** All three buckets of the reply. */
const outputTokens = (tokens: Tokens): number => tokens.output + tokens.output_audio + tokens.reasoning;

export const totalTokens = (tokens: Tokens): number => inputTokens(tokens) + outputTokens(tokens);

/** The same tokens as the API counts them in `usage`. */
export const usageOfTokens = (tokens: Tokens): Usage => ({
  input_tokens: inputTokens(tokens),
  output_tokens: outputTokens(tokens),
  cached_input_tokens: tokens.cache_read,
  reasoning_tokens: tokens.reasoning,
});

/** The tokens of one reply as its endpoint reported them. */
export interface ReportedTokens {
  tokens: Tokens;
  /** The report contradicts itself; what it says is counted all the same. */
  unreconciled: boolean;
}
