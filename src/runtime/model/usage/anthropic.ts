import type { ReportedTokens } from '../../../lib/tokens.ts';
import { objectAt, Report, type Usage } from './report.ts';

/**
 * Anthropic's messages. `input_tokens` is what no cache was read or written for; writes are split by how long the cache
 * keeps them, and the split counts. There is no total.
 */
export const anthropicTokens = (usage: Usage): ReportedTokens | null => {
  if (usage.input_tokens == null && usage.output_tokens == null) return null;
  const report = new Report();
  report.add('input', report.count(usage.input_tokens));
  report.add('cache_read', report.count(usage.cache_read_input_tokens));
  const written = report.count(usage.cache_creation_input_tokens);
  const split = objectAt(usage, 'cache_creation');
  if (split.ephemeral_5m_input_tokens == null && split.ephemeral_1h_input_tokens == null) {
    report.add('cache_write', written);
  } else {
    const minutes = report.count(split.ephemeral_5m_input_tokens);
    const hour = report.count(split.ephemeral_1h_input_tokens);
    report.add('cache_write', minutes);
    report.add('cache_write_1h', hour);
    report.require(usage.cache_creation_input_tokens == null || minutes + hour === written);
  }
  const { thinking_tokens: thinking } = objectAt(usage, 'output_tokens_details');
  report.split(report.count(usage.output_tokens), [['reasoning', report.count(thinking)]], 'output');
  return report.result;
};
