import { type Executor, sql } from '../../database/index.ts';

export interface IntegrationRow {
  id: string;
  description: string | null;
  provider: string;
  is_enabled: boolean;
  /** The worst of the replicas that are alive; null if none has reported. */
  state: 'delivering' | 'retrying' | 'paused' | 'disabled' | null;
  delivered: number;
  queued: number;
  dead_lettered: number;
  expired: number;
  expired_at: Date | null;
  oldest_at: Date | null;
  last_error: string | null;
  last_error_at: Date | null;
  last_success_at: Date | null;
  next_attempt_at: Date | null;
}

/** The delivery state that a replica reported holds for three minutes; its counts hold for ever. */
const isLive = sql`r.updated_at > platform_now() - interval '3 minutes'`;

/** All integrations with what replicas last reported of them, newest first. */
export const listIntegrations = async (executor: Executor): Promise<IntegrationRow[]> => {
  const { rows } = await sql<IntegrationRow>`
    select i.id, i.description, i.provider, i.is_enabled,
      case max(case r.state when 'paused' then 3 when 'retrying' then 2 when 'delivering' then 1 else 0 end)
        filter (where ${isLive}) when 3 then 'paused' when 2 then 'retrying' when 1 then 'delivering' end as state,
      coalesce(sum(r.delivered), 0)::bigint as delivered, coalesce(sum(r.queued), 0)::bigint as queued,
      coalesce(sum(r.dead_lettered), 0)::bigint as dead_lettered, coalesce(sum(r.expired), 0)::bigint as expired,
      max(r.expired_at) as expired_at, min(r.oldest_at) as oldest_at,
      (array_agg(r.last_error order by r.last_error_at desc nulls last)
        filter (where r.last_error is not null and ${isLive}))[1] as last_error,
      max(r.last_error_at) as last_error_at, max(r.last_success_at) as last_success_at,
      min(r.next_attempt_at) filter (where ${isLive}) as next_attempt_at
    from observability_integrations i left join telemetry_accounts r on r.number = i.number
    group by i.id order by i.number desc`.execute(executor);
  return rows;
};
