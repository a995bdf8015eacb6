import type { ReportedTokens } from '../../../lib/tokens.ts';
import { openAiTokens } from './openai.ts';
import { objectAt, type Usage } from './report.ts';

/**
 * Servers that speak chat completions. Some have names of their own for what a cache read, and some count reasoning next to
 * `completion_tokens`, which only the total shows.
 */
export const compatibleTokens = (usage: Usage): ReportedTokens | null => {
  const of = objectAt(usage, 'prompt_tokens_details');
  const cached = of.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens;
  const { prompt_tokens: prompt, completion_tokens: reply, total_tokens: total } = usage;
  const { reasoning_tokens: reasoning } = objectAt(usage, 'completion_tokens_details');
  const isOutside =
    [prompt, reply, reasoning].every(Number.isSafeInteger) &&
    Number(prompt) + Number(reply) + Number(reasoning) === total;
  return openAiTokens({
    ...usage,
    prompt_tokens_details: { ...of, cached_tokens: cached },
    ...(isOutside && { completion_tokens: Number(reply) + Number(reasoning) }),
  });
};
