import type { Executor } from '../database/index.ts';
import { type Attention, linesOf } from '../lib/attention.ts';
import { isolate } from '../lib/prose.ts';
import { listFailingChannels } from './store.ts';

/** The lines of the Overview about channels that fail. */
export const channelAttention = async (executor: Executor): Promise<Attention[]> => {
  const rows = await listFailingChannels(executor);
  return linesOf(
    rows,
    ({ id, name, failing_since, last_error }): Attention => ({
      kind: 'channel_failing',
      severity: 'warning',
      count: 1,
      since: failing_since,
      subject: { type: 'channel', id, name },
      title: `The channel ${isolate(name)} is failing`,
      detail: `${last_error ?? ''} Messages are tried again for a day.`.trim(),
      filter: {},
    }),
    (_first, { detail }) => ({
      count: rows.length,
      title: `${rows.length} channels are failing`,
      detail,
    }),
  );
};
