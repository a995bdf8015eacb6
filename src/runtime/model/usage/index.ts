import type { ReportedTokens } from '../../../lib/tokens.ts';
import type { ResolvedLlm } from '../../../llm-configurations/index.ts';
import { anthropicTokens } from './anthropic.ts';
import { bedrockTokens } from './bedrock.ts';
import { compatibleTokens } from './compatible.ts';
import { googleTokens } from './google.ts';
import { openAiTokens } from './openai.ts';
import type { Usage } from './report.ts';

export { Report } from './report.ts';

export type EndpointKind = Exclude<ResolvedLlm['kind'], 'mock'>;

const readers: Record<EndpointKind, (usage: Usage) => ReportedTokens | null> = {
  openai_compatible: compatibleTokens,
  openai: openAiTokens,
  azure: openAiTokens,
  anthropic: anthropicTokens,
  google: googleTokens,
  bedrock: bedrockTokens,
};

/**
 * Returns the tokens of a usage object as the endpoint of the kind sent it, in disjoint buckets; null if it reports none.
 * Sources of the rules: the API references of the providers (`usage`, `UsageMetadata`, `TokenUsage`).
 */
export const reportedTokens = (kind: EndpointKind, usage: Usage | null | undefined): ReportedTokens | null =>
  usage == null ? null : readers[kind](usage);
