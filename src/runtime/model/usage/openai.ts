import type { ReportedTokens } from '../../../lib/tokens.ts';
import { objectAt, Report, type Usage } from './report.ts';

/**
 * OpenAI and Azure, both protocols. The prompt includes what a cache read and wrote and what is audio, the reply its
 * reasoning and audio.
 */
export const openAiTokens = (usage: Usage): ReportedTokens | null => {
  const prompt = usage.prompt_tokens ?? usage.input_tokens;
  const reply = usage.completion_tokens ?? usage.output_tokens;
  if (prompt == null && reply == null) return null;
  const of = { ...objectAt(usage, 'input_tokens_details'), ...objectAt(usage, 'prompt_tokens_details') };
  const to = { ...objectAt(usage, 'output_tokens_details'), ...objectAt(usage, 'completion_tokens_details') };
  const report = new Report();
  report.split(
    report.count(prompt),
    [
      ['cache_read', report.count(of.cached_tokens)],
      ['cache_write', report.count(of.cache_write_tokens)],
      ['input_audio', report.count(of.audio_tokens)],
    ],
    'input',
  );
  report.split(
    report.count(reply),
    [
      ['reasoning', report.count(to.reasoning_tokens)],
      ['output_audio', report.count(to.audio_tokens)],
    ],
    'output',
  );
  report.checkTotal(usage.total_tokens);
  return report.result;
};
