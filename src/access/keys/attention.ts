import { type Executor, sql } from '../../database/index.ts';
import { type Attention, linesOf, mostLines } from '../../lib/attention.ts';
import { counted, isolate } from '../../lib/prose.ts';
import { LocalClock, lengthOf } from '../../lib/times.ts';

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
  return linesOf(rows, line, ({ name, total }, { detail }) => ({
    count: total,
    title: `${counted(total, 'API key')} expire within ${withinDays} days`,
    detail: `The first is ${isolate(name)}. ${detail}`,
  }));
};
