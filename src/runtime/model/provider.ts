import type { LanguageModel } from 'ai';
import type { Secret } from '../../lib/crypto.ts';
import type { ResolvedLlm } from '../../llm-configurations/index.ts';
import type { Marks } from './prompt.ts';

/** `text`: not at all, only in words. */
export type OutputFormat = 'json_object' | 'json_schema' | 'text';

/** Options of a call, before the provider's own options. */
export interface CallOptions {
  reasoning: ResolvedLlm['reasoning_effort'];
  maxOutputTokens: number | null;
  /** Key of the prompt cache; null also if prompt caching is off. */
  cacheKey: string | null;
  /** Format in which JSON is requested, for protocols with several ways. */
  output: OutputFormat;
}

/** A model of one provider, for one call. */
export interface Provider {
  /** Always an object: a bare name would be sent to the SDK's own gateway. */
  model: Exclude<LanguageModel, string>;
  /** Options of the call that only this provider has, or that it needs another value for. */
  options?: {
    providerOptions?: Marks;
    maxOutputTokens?: number | null;
    reasoning?: ResolvedLlm['reasoning_effort'];
  };
  /** Marks what the provider caches; undefined if it caches by itself. */
  cacheMarks?: Marks;
}

/** The parameters of every provider: the configuration, the requested model, and the only way out. */
export type CreateProvider<L> = (
  llm: L,
  model: string,
  fetch: typeof globalThis.fetch,
  call: CallOptions,
) => Provider;

/** The configurations of a kind. */
export type LlmOf<K extends ResolvedLlm['kind']> = Extract<ResolvedLlm, { kind: K }>;

/** The additional headers of a configuration, their names in lower case. */
export const revealed = (headers: Record<string, Secret>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]));
