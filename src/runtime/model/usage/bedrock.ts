import type { ReportedTokens } from '../../../lib/tokens.ts';
import { listAt, Report, type Usage } from './report.ts';

/**
 * Bedrock's Converse. `inputTokens` is what no cache was read or written for; `cacheDetails` splits the writes by how long
 * the cache keeps them, and counts. The total has the cache with some models only. Reasoning is not reported.
 */
export const bedrockTokens = (usage: Usage): ReportedTokens | null => {
  if (usage.inputTokens == null && usage.outputTokens == null) return null;
  const report = new Report();
  report.add('input', report.count(usage.inputTokens));
  const read = report.count(usage.cacheReadInputTokens);
  report.add('cache_read', read);
  const reported = report.count(usage.cacheWriteInputTokens);
  const details = listAt(usage, 'cacheDetails').map(({ ttl, inputTokens }) => ({
    bucket: ttl === '1h' ? ('cache_write_1h' as const) : ('cache_write' as const),
    count: report.count(inputTokens),
  }));
  for (const { bucket, count } of details) report.add(bucket, count);
  if (details.length === 0) report.add('cache_write', reported);
  const split = details.reduce((sum, { count }) => sum + count, 0);
  report.require(details.length === 0 || usage.cacheWriteInputTokens == null || split === reported);
  report.add('output', report.count(usage.outputTokens));
  report.checkTotal(usage.totalTokens, read + (details.length === 0 ? reported : split));
  return report.result;
};
