import { z } from 'zod';

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

const count = z.int().min(0);

/** Usage of all attempts of a run. */
export const runUsage = z.object({
  input_tokens: count,
  output_tokens: count,
  cached_input_tokens: count,
  reasoning_tokens: count,
  model_calls: count,
  tool_calls: count,
});

/** Tokens, replies of models, and tool calls that were made. */
export type RunUsage = z.output<typeof runUsage>;

/** Rows of early releases have only the first two. */
export type StoredUsage = Pick<RunUsage, 'input_tokens' | 'output_tokens'> & Partial<RunUsage>;

export const noRunUsage: Readonly<RunUsage> = { ...noUsage, model_calls: 0, tool_calls: 0 };

/** Numbers above it are not exact in JSON; external workers may report anything. */
const mostCounted = 9e15;

export const addRunUsage = (
  stored: StoredUsage | null,
  more: { readonly [Name in keyof RunUsage]?: number | undefined },
): RunUsage => {
  const names = Object.keys(noRunUsage) as (keyof RunUsage)[];
  const sums = names.map((name) => [name, Math.min(mostCounted, (stored?.[name] ?? 0) + (more[name] ?? 0))]);
  return Object.fromEntries(sums) as RunUsage;
};

/** Stored usage with all its numbers; null if there is none. */
export const wholeUsage = (stored: StoredUsage | null): RunUsage | null =>
  stored && { ...noRunUsage, ...stored };
