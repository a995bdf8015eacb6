import { z } from 'zod';
import { headerMap, text } from '../http/index.ts';
import { urlFault } from '../lib/http-url.ts';
import { mapValues } from '../lib/objects.ts';
import { nullable, withDefault } from '../resource/index.ts';

/** The fields that several kinds of LLM configurations have. */

/** The address of an endpoint: http or https, without credentials, query or fragment. */
export const baseUrl = text(2_000, 1)
  .superRefine((value, context) => {
    const message = urlFault(value) ?? (/[?#]/.test(value) ? 'must not have a query or fragment' : null);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .meta({ openapi: { type: 'string', format: 'uri', maxLength: 2_000 } });

export const visible = (max: number) =>
  text(max, 1).refine((value) => /^[\x21-\x7e]+$/.test(value), 'must consist of visible ASCII characters');

export const apiKey = visible(10_000).describe('Never returned.');

/** `taken` are the headers that the requests of the kind have already. */
export const headers = (...taken: string[]) =>
  headerMap(['accept-encoding', 'user-agent', ...taken], 20).describe(
    'Additional headers. Their values are never returned.',
  );

export const api = z
  .enum(['responses', 'chat_completions'])
  .describe('The protocol. `chat_completions` is for models and proxies that do not have `responses`.');

/** The limits of calls and what else every kind has, with defaults. */
export const limits = {
  /** Null: the provider's own limit. */
  max_output_tokens: nullable(z.int().min(1).max(1_000_000).describe('The most tokens of one reply.')),
  temperature: nullable(z.number().min(0).max(2).describe('Left out for models that do not take it.')),
  reasoning_effort: nullable(
    z.enum(['none', 'minimal', 'low', 'medium', 'high']).describe('Left out for models that do not reason.'),
  ),
  context_tokens: withDefault(
    z.int().min(1_000).max(10_000_000).describe('The tokens of one call, input and output.'),
    128_000,
  ),
  timeout_seconds: withDefault(
    z
      .int()
      .min(1)
      .max(600)
      .describe('The longest wait for the first token. Later the model may be silent for 60 s.'),
    120,
  ),
  streaming: withDefault(z.boolean().describe('Whether replies are read as they are generated.'), true),
  prompt_caching: withDefault(
    z.boolean().describe('Whether the provider is asked to cache the prompt.'),
    true,
  ),
  price_as: nullable(
    text(500, 1).describe(
      'The name whose price the calls have, before the names that the endpoint reports and that are requested.',
    ),
  ),
};

export type LlmLimits = { [K in keyof typeof limits]: z.output<(typeof limits)[K]['create']> };

/** The limits of a configuration, with their defaults. */
export const limitsOf = (settings: Partial<LlmLimits>): LlmLimits =>
  mapValues(limits, ({ fallback }, name) => settings[name] ?? fallback) as LlmLimits;
