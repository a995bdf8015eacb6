import { z } from 'zod';

const tokens = z.int().min(0);

/** Usage of all attempts of a run. */
export const runUsage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cached_input_tokens: tokens,
  reasoning_tokens: tokens,
  model_calls: tokens,
  tool_calls: tokens,
});

/** Tokens, replies of models, and tool calls that were made. */
export type RunUsage = z.output<typeof runUsage>;

/** Rows of early releases have only the first two. */
export type StoredUsage = Pick<RunUsage, 'input_tokens' | 'output_tokens'> & Partial<RunUsage>;

export const noRunUsage: Readonly<RunUsage> = {
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  model_calls: 0,
  tool_calls: 0,
};

/** `stored` and `more` together. */
export const addUsage = (
  stored: StoredUsage | null,
  more: { readonly [Name in keyof RunUsage]?: number | undefined },
): RunUsage => {
  const names = Object.keys(noRunUsage) as (keyof RunUsage)[];
  const sums = names.map((name) => [name, (stored?.[name] ?? 0) + (more[name] ?? 0)]);
  return Object.fromEntries(sums) as RunUsage;
};

/** The usage so far with all its numbers; null if there is none. */
export const wholeUsage = (stored: StoredUsage | null): RunUsage | null =>
  stored && { ...noRunUsage, ...stored };
