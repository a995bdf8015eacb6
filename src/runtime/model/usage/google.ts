import type { ReportedTokens } from '../../../lib/tokens.ts';
import { listAt, Report, type Usage } from './report.ts';

/**
 * Gemini. The prompt includes what a cache read; results of the provider's own tools and reasoning are counted apart. Audio
 * is known by its modality.
 */
export const googleTokens = (usage: Usage): ReportedTokens | null => {
  const { promptTokenCount, candidatesTokenCount } = usage;
  if (promptTokenCount == null && candidatesTokenCount == null) return null;
  const report = new Report();
  const audio = (key: string) =>
    listAt(usage, key).reduce(
      (sum, { modality, tokenCount }) => sum + (modality === 'AUDIO' ? report.count(tokenCount) : 0),
      0,
    );
  const cachedAudio = audio('cacheTokensDetails');
  const promptAudio = audio('promptTokensDetails');
  report.require(cachedAudio <= promptAudio);
  report.split(
    report.count(promptTokenCount),
    [
      ['cache_read', report.count(usage.cachedContentTokenCount)],
      ['input_audio', Math.max(0, promptAudio - cachedAudio)],
    ],
    'input',
  );
  report.split(
    report.count(usage.toolUsePromptTokenCount),
    [['input_audio', audio('toolUsePromptTokensDetails')]],
    'input',
  );
  report.split(
    report.count(candidatesTokenCount),
    [['output_audio', audio('candidatesTokensDetails')]],
    'output',
  );
  report.add('reasoning', report.count(usage.thoughtsTokenCount));
  report.checkTotal(usage.totalTokenCount);
  return report.result;
};
