import { findAuditFault } from '../../../audit/index.ts';
import { type Executor, sql } from '../../../database/index.ts';
import { isolate } from '../../../lib/prose.ts';
import { LocalClock, lengthOf, sentence } from '../../../schedules/index.ts';
import { type Attention, counted, mostLines } from './attention.ts';

/** The hash chain of the audit log, if it was found to be broken. */
export const auditAttention = async (executor: Executor, now: number): Promise<Attention[]> => {
  const fault = await findAuditFault(executor);
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

interface ExpiringKey {
  id: string;
  name: string;
  expires_at: Date;
  total: number;
}

const withinDays = 7;

/** The keys that expire within a week and that no other replaces. */
export const keyAttention = async (executor: Executor, now: number): Promise<Attention[]> => {
  const { rows } = await sql<ExpiringKey>`
    select id, name, expires_at, (count(*) over ())::int as total from api_keys
    where replaced_by is null and expires_at > platform_now()
      and expires_at < platform_now() + ${sql.lit(withinDays)} * interval '1 day'
    order by expires_at limit ${sql.lit(mostLines + 1)}`.execute(executor);
  const clock = new LocalClock('UTC', now);
  const line = ({ id, name, expires_at }: ExpiringKey): Attention => ({
    kind: 'key_expiring',
    severity: 'warning',
    count: 1,
    since: null,
    subject: { type: 'api_key', id, name },
    title: `The API key ${isolate(name)} expires in ${lengthOf(expires_at.getTime() - now)}`,
    detail: `It works until ${clock.moment(expires_at.getTime())} (UTC). Rotate it before then.`,
    filter: {},
  });
  if (rows.length <= mostLines) return rows.map(line);
  const first = line(rows[0]!);
  const title = `${counted(rows[0]!.total, 'API key')} expire within ${withinDays} days`;
  return [
    {
      ...first,
      count: rows[0]!.total,
      subject: null,
      title,
      detail: `The first is ${isolate(rows[0]!.name)}. ${first.detail}`,
    },
  ];
};
