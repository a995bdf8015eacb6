import type { Executor } from '../database/index.ts';
import type { Attention } from '../lib/attention.ts';
import { sentence } from '../lib/prose.ts';
import { LocalClock } from '../lib/times.ts';
import { findFault } from './faults.ts';

/** The hash chain of the audit log, if it was found to be broken. */
export const auditAttention = async (executor: Executor, now: number): Promise<Attention[]> => {
  const fault = await findFault(executor);
  if (!fault) return [];
  const clock = new LocalClock('UTC', now);
  const found = `It was found at ${clock.near(fault.found_at.getTime(), now)} (UTC).`;
  return [
    {
      kind: 'audit_broken',
      severity: 'error',
      count: 1,
      since: fault.found_at,
      subject: null,
      title: 'The chain of the audit log is broken',
      detail: `${sentence(fault.fault)} ${found} Verify the log to see whether it still is.`,
      filter: fault.position === null ? {} : { position: String(fault.position) },
    },
  ];
};
